package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/structured"
)

// benchAddQuestion adds to the cluster that benchmarks run on; "reset" empties it first.
type benchAddQuestion struct {
	Reset   bool                         `json:"reset"`
	Nodes   []*v1.Node                   `json:"nodes"`
	Classes []*resourceapi.DeviceClass   `json:"classes"`
	Slices  []*resourceapi.ResourceSlice `json:"slices"`
	benchState
}

// benchState is what is allocated, in the form that an allocateQuestion has.
type benchState struct {
	AllocatedDevices []deviceName `json:"allocatedDevices"`
	AllocatedShares  []deviceName `json:"allocatedSharedDeviceIDs"`
	Consumed         []deviceName `json:"aggregatedCapacity"`
}

// benchCluster is the one cluster that is kept for benchmarks.
var benchCluster benchAddQuestion

// benchAddAnswer says how large the cluster is by now.
type benchAddAnswer struct {
	header
	Nodes  int `json:"nodes"`
	Slices int `json:"slices"`
}

func benchAdd(line []byte) (answer, error) {
	var q benchAddQuestion
	if err := json.Unmarshal(line, &q); err != nil {
		return nil, err
	}
	if q.Reset {
		benchCluster = benchAddQuestion{}
	}
	benchCluster.Nodes = append(benchCluster.Nodes, q.Nodes...)
	benchCluster.Classes = append(benchCluster.Classes, q.Classes...)
	benchCluster.Slices = append(benchCluster.Slices, q.Slices...)
	benchCluster.AllocatedDevices = append(benchCluster.AllocatedDevices, q.AllocatedDevices...)
	benchCluster.AllocatedShares = append(benchCluster.AllocatedShares, q.AllocatedShares...)
	benchCluster.Consumed = append(benchCluster.Consumed, q.Consumed...)
	return &benchAddAnswer{Nodes: len(benchCluster.Nodes), Slices: len(benchCluster.Slices)}, nil
}

// benchRunQuestion asks for attempts at the same claims on the cluster as it is. Feasible is the number of nodes with
// which an attempt is content, 0: it looks at all. Each attempt begins at another node, which is Stride further on.
type benchRunQuestion struct {
	Features    structured.Features          `json:"features"`
	Claims      []*resourceapi.ResourceClaim `json:"claims"`
	Feasible    int                          `json:"feasible"`
	Stride      int                          `json:"stride"`
	MaxAttempts int                          `json:"maxAttempts"`
	TotalMS     int64                        `json:"totalMs"`
	AttemptMS   int64                        `json:"attemptMs"`
	CPUTime     bool                         `json:"cpuTime"` // of the process, all threads; else the time that passes
}

// benchRunAnswer has the duration of each attempt. Found is the least number of feasible nodes of an attempt.
type benchRunAnswer struct {
	header
	DurationsMS []float64 `json:"durationsMs"`
	Found       int       `json:"found"`
	Visited     int       `json:"visited"`
	Deadline    bool      `json:"deadline"`
	Error       string    `json:"error,omitempty"`
}

func benchRun(line []byte) (answer, error) {
	var q benchRunQuestion
	if err := json.Unmarshal(line, &q); err != nil {
		return nil, err
	}
	if len(benchCluster.Nodes) == 0 {
		return nil, errors.New("there is no cluster: ask benchAdd first")
	}
	structured.EnableAllocators()
	state := (&allocateQuestion{
		AllocatedDevices: benchCluster.AllocatedDevices,
		AllocatedShares:  benchCluster.AllocatedShares,
		Consumed:         benchCluster.Consumed,
	}).allocatedState()
	result := &benchRunAnswer{}
	end := time.Now().Add(time.Duration(q.TotalMS) * time.Millisecond)
	for number := 0; number < q.MaxAttempts && (number == 0 || time.Now().Before(end)); number++ {
		if err := q.attempt(result, state, number); err != nil {
			result.Error = err.Error()
			break
		}
	}
	return result, nil
}

// attempt does what kube-scheduler does with the allocator for one pod, on one core.
func (q *benchRunQuestion) attempt(result *benchRunAnswer, state structured.AllocatedState, number int) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(q.AttemptMS)*time.Millisecond)
	defer cancel()
	started := q.now()
	copied := structured.AllocatedState{
		AllocatedDevices:         state.AllocatedDevices.Clone(),
		AllocatedSharedDeviceIDs: state.AllocatedSharedDeviceIDs.Clone(),
		AggregatedCapacity:       state.AggregatedCapacity.Clone(),
	}
	allocator, err := structured.NewAllocator(
		ctx, q.Features, copied, classLister(benchCluster.Classes), benchCluster.Slices, selectorCache(q.Features))
	if err != nil {
		return fmt.Errorf("make the allocator: %w", err)
	}
	found, visited, nodes := 0, 0, benchCluster.Nodes
	for index := range nodes {
		node := nodes[(number*q.Stride+index)%len(nodes)]
		results, err := allocator.Allocate(ctx, node, q.Claims)
		if errors.Is(err, context.DeadlineExceeded) {
			result.Deadline = true
			break
		}
		if err != nil && !errors.Is(err, structured.ErrFailedAllocationOnNode) {
			return fmt.Errorf("node %s: %w", node.Name, err)
		}
		visited++
		if len(results) > 0 {
			found++
		}
		if q.Feasible > 0 && found >= q.Feasible {
			break
		}
	}
	result.DurationsMS = append(result.DurationsMS, float64((q.now()-started).Microseconds())/1000)
	if number == 0 || found < result.Found {
		result.Found = found
	}
	result.Visited = max(result.Visited, visited)
	return nil
}

// begun is what times that pass are counted from.
var begun = time.Now()

func (q *benchRunQuestion) now() time.Duration {
	if !q.CPUTime {
		return time.Since(begun)
	}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
