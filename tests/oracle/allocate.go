package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// allocateQuestion is one attempt on one node. The fields have the names and the form of the conformance cases.
type allocateQuestion struct {
	// Allocator is "incubating" or "experimental" (the default).
	Allocator        string                       `json:"allocator"`
	Features         structured.Features          `json:"features"`
	Node             *v1.Node                     `json:"node"`
	ClaimsToAllocate []*resourceapi.ResourceClaim `json:"claimsToAllocate"`
	Classes          []*resourceapi.DeviceClass   `json:"classes"`
	Slices           []*resourceapi.ResourceSlice `json:"slices"`
	AllocatedDevices []deviceName                 `json:"allocatedDevices"`
	AllocatedShares  []deviceName                 `json:"allocatedSharedDeviceIDs"`
	Consumed         []deviceName                 `json:"aggregatedCapacity"`
}

type deviceName struct {
	Driver   string                                          `json:"driver"`
	Pool     string                                          `json:"pool"`
	Device   string                                          `json:"device"`
	ShareID  types.UID                                       `json:"shareID"`
	Consumed map[resourceapi.QualifiedName]resource.Quantity `json:"consumedCapacity"`
}

func (d deviceName) id() structured.DeviceID {
	return structured.MakeDeviceID(d.Driver, d.Pool, d.Device)
}

// allocateAnswer has one of the outcomes results, none, error, unsupported (the allocator lacks a feature) and
// deadline (the time limit passed).
type allocateAnswer struct {
	header
	Outcome          string                         `json:"outcome"`
	Results          []resourceapi.AllocationResult `json:"results"`
	Error            string                         `json:"error,omitempty"`
	ErrorIsNodeLocal bool                           `json:"errorIsNodeLocal,omitempty"`
}

// fixedShareID stands for every random share id, so that answers can be compared.
const fixedShareID = types.UID("aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa")

// selectorCaches keeps compiled selectors per feature set: making a compiler takes longer than most allocations.
var selectorCaches = map[cel.Features]*cel.Cache{}

func selectorCache(features structured.Features) *cel.Cache {
	wanted := cel.Features{
		EnableConsumableCapacity: features.ConsumableCapacity,
		EnableListTypeAttributes: features.ListTypeAttributes,
	}
	if selectorCaches[wanted] == nil {
		selectorCaches[wanted] = cel.NewCache(1000, wanted)
	}
	return selectorCaches[wanted]
}

func allocate(common question, line []byte) (answer, error) {
	var q allocateQuestion
	if err := json.Unmarshal(line, &q); err != nil {
		return nil, err
	}
	if q.Allocator == "" {
		q.Allocator = "experimental"
	}
	if q.Node == nil || !slices.Contains([]string{"incubating", "experimental"}, q.Allocator) {
		return nil, fmt.Errorf("want a node and an allocator incubating or experimental, got %q", q.Allocator)
	}
	ctx, cancel := context.WithTimeout(context.Background(), common.timeLimit())
	defer cancel()
	structured.EnableAllocators(q.Allocator)
	allocator, err := structured.NewAllocator(
		ctx, q.Features, q.allocatedState(), classLister(q.Classes), q.Slices, selectorCache(q.Features))
	if err != nil {
		return &allocateAnswer{Outcome: "unsupported", Error: err.Error()}, nil
	}
	results, err := allocator.Allocate(ctx, q.Node, q.ClaimsToAllocate)
	return outcome(results, err), nil
}

func outcome(results []resourceapi.AllocationResult, err error) *allocateAnswer {
	result := &allocateAnswer{Results: results}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		result.Outcome, result.Error = "deadline", err.Error()
	case err != nil:
		result.Outcome, result.Error = "error", err.Error()
		result.ErrorIsNodeLocal = errors.Is(err, structured.ErrFailedAllocationOnNode)
	case len(results) > 0:
		result.Outcome = "results"
	default:
		result.Outcome = "none"
	}
	for i := range results {
		for j := range results[i].Devices.Results {
			if device := &results[i].Devices.Results[j]; device.ShareID != nil {
				device.ShareID = new(fixedShareID)
			}
		}
	}
	return result
}

func (q *allocateQuestion) allocatedState() structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, device := range q.AllocatedDevices {
		state.AllocatedDevices.Insert(device.id())
	}
	for _, share := range q.AllocatedShares {
		state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(share.id(), &share.ShareID))
	}
	for _, device := range q.Consumed {
		state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(device.id(), device.Consumed))
	}
	return state
}

type classLister []*resourceapi.DeviceClass

func (l classLister) List() ([]*resourceapi.DeviceClass, error) { return l, nil }

func (l classLister) Get(name string) (*resourceapi.DeviceClass, error) {
	for _, class := range l {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{}, "not found")
}
