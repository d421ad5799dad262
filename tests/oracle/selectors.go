package main

import (
	"context"
	"encoding/json"
	"fmt"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/dynamic-resource-allocation/cel"
)

// selectorQuestion is one expression over some devices.
type selectorQuestion struct {
	Expression string       `json:"expression"`
	Devices    []celDevice  `json:"devices"`
	EnvType    string       `json:"envType"` // StoredExpressions (the default) or NewExpressions
	Gates      cel.Features `json:"gates"`   // EnableConsumableCapacity, EnableListTypeAttributes
	CostLimit  *uint64      `json:"costLimit"`
}

type celDevice struct {
	Driver                   string                                                    `json:"driver"`
	AllowMultipleAllocations *bool                                                     `json:"allowMultipleAllocations"`
	Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity"`
}

// selectorAnswer has a letter per device: T, F, E (run-time error) or C (does not compile).
type selectorAnswer struct {
	header
	Letters      string                         `json:"letters"`
	CompileError string                         `json:"compileError,omitempty"`
	Errors       []string                       `json:"errors,omitempty"`
	Attributes   []*resourceapi.DeviceAttribute `json:"attributes,omitempty"`
	MaxCost      uint64                         `json:"maxCost"`
	ActualCosts  []*uint64                      `json:"actualCosts,omitempty"`
	OutputType   string                         `json:"outputType,omitempty"`
}

type celCompiler interface {
	CompileCELExpression(expression string, options cel.Options) cel.CompilationResult
}

// compilers keeps one per feature set, because the library keeps a single one.
var compilers = map[cel.Features]celCompiler{}

func compiler(features cel.Features) celCompiler {
	if compilers[features] == nil {
		compilers[features] = cel.GetCompiler(features)
	}
	return compilers[features]
}

func evaluateSelector(common question, line []byte) (answer, error) {
	return evaluate(common, line, false)
}

func evaluateDerived(common question, line []byte) (answer, error) {
	return evaluate(common, line, true)
}

func evaluate(common question, line []byte, derived bool) (answer, error) {
	var q selectorQuestion
	if err := json.Unmarshal(line, &q); err != nil {
		return nil, err
	}
	environmentType, err := q.environmentType()
	if err != nil {
		return nil, err
	}
	compiled := compiler(q.Gates).CompileCELExpression(q.Expression, cel.Options{
		EnvType: &environmentType, DerivedAttribute: derived, CostLimit: q.CostLimit})
	result := &selectorAnswer{MaxCost: compiled.MaxCost}
	if compiled.OutputType != nil {
		result.OutputType = compiled.OutputType.String()
	}
	if compiled.Error != nil {
		result.MaxCost = 0 // else the largest number that there is
		result.CompileError = compiled.Error.Error()
		for range q.Devices {
			result.Letters += "C"
		}
		return result, nil
	}
	for _, device := range q.Devices {
		result.add(common, compiled, device, derived)
	}
	return result, nil
}

func (q selectorQuestion) environmentType() (environment.Type, error) {
	switch q.EnvType {
	case "", string(environment.StoredExpressions):
		return environment.StoredExpressions, nil
	case string(environment.NewExpressions):
		return environment.NewExpressions, nil
	default:
		return "", fmt.Errorf("unknown envType %q", q.EnvType)
	}
}

func (a *selectorAnswer) add(common question, compiled cel.CompilationResult, device celDevice, derived bool) {
	ctx, cancel := context.WithTimeout(context.Background(), common.timeLimit())
	defer cancel()
	input := cel.Device(device)
	letter, errorText := "F", ""
	var attribute *resourceapi.DeviceAttribute
	var cost *uint64
	var matches bool
	var err error
	if derived {
		var details interface{ ActualCost() *uint64 }
		attribute, details, err = derive(ctx, compiled, input)
		matches, cost = true, details.ActualCost()
	} else {
		matches, cost, err = match(ctx, compiled, input)
	}
	switch {
	case err != nil:
		letter, errorText = "E", err.Error()
	case matches:
		letter = "T"
	}
	a.Letters += letter
	a.Errors = append(a.Errors, errorText)
	a.ActualCosts = append(a.ActualCosts, cost)
	if derived {
		a.Attributes = append(a.Attributes, attribute)
	}
}

// noDetails stands for details that the library does not return when the input cannot be read.
type noDetails struct{}

func (noDetails) ActualCost() *uint64 { return nil }

func derive(ctx context.Context, compiled cel.CompilationResult, device cel.Device) (
	*resourceapi.DeviceAttribute, interface{ ActualCost() *uint64 }, error) {
	attribute, details, err := compiled.EvaluateDerivedAttribute(ctx, device)
	if details == nil {
		return attribute, noDetails{}, err
	}
	return attribute, details, err
}

func match(ctx context.Context, compiled cel.CompilationResult, device cel.Device) (bool, *uint64, error) {
	matches, details, err := compiled.DeviceMatches(ctx, device)
	if details == nil {
		return matches, nil, err
	}
	return matches, details.ActualCost(), err
}
