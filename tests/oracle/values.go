package main

import (
	"encoding/json"
	"fmt"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/dynamic-resource-allocation/cel"
)

// textQuestion is a quantity or a version, optionally with another one to compare it with.
type textQuestion struct {
	Text      string  `json:"text"`
	Other     *string `json:"other"`
	Normalize bool    `json:"normalize"` // versions only: as the selector language's semver(text, true)
}

// textAnswer says what became of the text. Decimal is the exact value of a quantity.
type textAnswer struct {
	header
	Error     string `json:"error,omitempty"`
	Canonical string `json:"canonical"`
	Decimal   string `json:"decimal,omitempty"`
	Format    string `json:"format,omitempty"`
	Value     int64  `json:"value"`
	Milli     int64  `json:"milli"`
	IsInt64   bool   `json:"isInt64"`
	Compared  *int   `json:"compared,omitempty"` // -1, 0 or 1; absent without a readable other
	Sum       string `json:"sum,omitempty"`
	Diff      string `json:"difference,omitempty"`
}

func readQuantity(line []byte) (answer, error) {
	var q textQuestion
	if err := json.Unmarshal(line, &q); err != nil {
		return nil, err
	}
	quantity, err := resource.ParseQuantity(q.Text)
	if err != nil {
		return &textAnswer{Error: err.Error()}, nil
	}
	result := &textAnswer{
		Format: string(quantity.Format), Value: quantity.Value(), Milli: quantity.MilliValue(),
	}
	_, result.IsInt64 = quantity.AsInt64()
	copied := quantity.DeepCopy()
	result.Decimal = copied.AsDec().String()
	// String() would repeat the text where it was simple to read.
	number, suffix := quantity.CanonicalizeBytes(make([]byte, 0, 64))
	result.Canonical = string(number) + string(suffix)
	if q.Other == nil {
		return result, nil
	}
	if other, err := resource.ParseQuantity(*q.Other); err == nil {
		result.Compared = new(quantity.Cmp(other))
		sum, difference := quantity.DeepCopy(), quantity.DeepCopy()
		sum.Add(other)
		difference.Sub(other)
		result.Sum, result.Diff = sum.AsDec().String(), difference.AsDec().String()
	}
	return result, nil
}

func readSemver(common question, line []byte) (answer, error) {
	var q textQuestion
	if err := json.Unmarshal(line, &q); err != nil {
		return nil, err
	}
	if q.Normalize {
		return normalizedSemver(common, q)
	}
	version, err := semver.Parse(q.Text)
	if err != nil {
		return &textAnswer{Error: err.Error()}, nil
	}
	result := &textAnswer{Canonical: version.String()}
	if q.Other != nil {
		if other, err := semver.Parse(*q.Other); err == nil {
			result.Compared = new(version.Compare(other))
		}
	}
	return result, nil
}

// normalizedSemver asks the selector language, whose normalisation is not exported.
func normalizedSemver(common question, q textQuestion) (answer, error) {
	inner, err := json.Marshal(selectorQuestion{
		Expression: "semver(device.driver, true)",
		Devices:    []celDevice{{Driver: q.Text}},
		Gates:      cel.Features{},
	})
	if err != nil {
		return nil, err
	}
	evaluated, err := evaluate(common, inner, true)
	if err != nil {
		return nil, err
	}
	given := evaluated.(*selectorAnswer)
	if given.Letters != "T" {
		return &textAnswer{Error: fmt.Sprint(given.CompileError, given.Errors)}, nil
	}
	return &textAnswer{Canonical: *given.Attributes[0].VersionValue}, nil
}
