// Command oracle answers questions about Kubernetes' DRA engine: one JSON object a line on stdin, one on stdout.
//
// Kinds of questions: allocate, cel, derived, quantity, semver, and for benchmarks benchAdd and benchRun. Each answer
// repeats the question's "id". A question that cannot be read is answered with "badQuestion" and its reason; a panic of
// the library with "panic". Nothing is kept between questions but compiled expressions and the benchmarks' cluster.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"k8s.io/klog/v2"
)

// defaultTimeLimit ends an answer that takes too long; a question may set its own.
const defaultTimeLimit = 2 * time.Second

// question is what all kinds have in common.
type question struct {
	ID          int64  `json:"id"`
	Kind        string `json:"kind"`
	TimeLimitMS int64  `json:"timeLimitMs"`
}

func (q question) timeLimit() time.Duration {
	if q.TimeLimitMS > 0 {
		return time.Duration(q.TimeLimitMS) * time.Millisecond
	}
	return defaultTimeLimit
}

// header is what all answers have in common.
type header struct {
	ID          int64   `json:"id"`
	MS          float64 `json:"ms"`
	BadQuestion string  `json:"badQuestion,omitempty"`
	Panic       string  `json:"panic,omitempty"`
}

func (h *header) head() *header { return h }

type answer interface{ head() *header }

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

func serve(in io.Reader, out io.Writer) error {
	quiet := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(quiet)
	klog.SetOutput(io.Discard)
	reader := bufio.NewReaderSize(in, 1<<20)
	writer := bufio.NewWriter(out)
	encoder := json.NewEncoder(writer)
	encoder.SetEscapeHTML(false)
	for {
		line, err := reader.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			if err := encoder.Encode(reply(line)); err != nil {
				return err
			}
			if err := writer.Flush(); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func reply(line []byte) (result answer) {
	var common question
	started := time.Now()
	defer func() {
		if reason := recover(); reason != nil {
			result = &header{Panic: fmt.Sprintf("%v\n%s", reason, debug.Stack())}
		}
		result.head().ID = common.ID
		result.head().MS = float64(time.Since(started).Microseconds()) / 1000
	}()
	if err := json.Unmarshal(line, &common); err != nil {
		return &header{BadQuestion: err.Error()}
	}
	result, err := dispatch(common, line)
	if err != nil {
		return &header{BadQuestion: err.Error()}
	}
	return result
}

func dispatch(common question, line []byte) (answer, error) {
	switch common.Kind {
	case "allocate":
		return allocate(common, line)
	case "benchAdd":
		return benchAdd(line)
	case "benchRun":
		return benchRun(line)
	case "cel":
		return evaluateSelector(common, line)
	case "derived":
		return evaluateDerived(common, line)
	case "quantity":
		return readQuantity(line)
	case "semver":
		return readSemver(common, line)
	default:
		return nil, fmt.Errorf("unknown kind %q: want allocate, benchAdd, benchRun, cel, derived, quantity or semver", common.Kind)
	}
}
