package main

import (
	"context"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// inputEvent is an object as it was and as it is now; null where it wasn't or isn't there.
type inputEvent struct {
	Old json.RawMessage `json:"old"`
	New json.RawMessage `json:"new"`
}

// hinted is one cluster event with the answers of all plugins that hear of it.
type hinted struct {
	Event string            `json:"event"`
	Hints map[string]string `json:"hints"`
}

// hints asks the QueueingHintFns of the profile about each event. The caches
// stay as the decision found them.
func hints(ctx context.Context, fw framework.Framework, pod *v1.Pod, events []inputEvent, defaults bool) ([][]hinted, error) {
	all := make([][]hinted, 0, len(events))
	for i, event := range events {
		before, after, err := event.decode(defaults)
		if err != nil {
			return nil, fmt.Errorf("events[%d]: %w", i, err)
		}
		heard := []hinted{}
		for _, ce := range clusterEvents(pod, before, after) {
			answers, err := ask(ctx, fw, waiting(pod, ce, after), ce, before, after)
			if err != nil {
				return nil, fmt.Errorf("events[%d]: %w", i, err)
			}
			heard = append(heard, hinted{ce.Label(), answers})
		}
		all = append(all, heard)
	}
	return all, nil
}

// The results are nil interfaces, not nil pointers in interfaces, where there is no object.
func (e inputEvent) decode(defaults bool) (before, after any, err error) {
	one := func(raw json.RawMessage) (any, error) {
		if len(raw) == 0 || string(raw) == "null" {
			return nil, nil
		}
		return decodeObject(raw, "", defaults)
	}
	if before, err = one(e.Old); err != nil {
		return nil, nil, err
	}
	if after, err = one(e.New); err != nil {
		return nil, nil, err
	}
	if before == nil && after == nil {
		return nil, nil, fmt.Errorf("neither old nor new")
	}
	return before, after, nil
}

// waiting is the pod that the hints are asked about: the target as the event
// leaves it, for the queue updates its pod before it asks.
func waiting(pod *v1.Pod, ce fwk.ClusterEvent, after any) *v1.Pod {
	if p, ok := after.(*v1.Pod); ok && ce.Resource == fwk.TargetPod {
		return p
	}
	return pod
}

// clusterEvents are the events that eventhandlers.go makes of the change.
func clusterEvents(pod *v1.Pod, before, after any) []fwk.ClusterEvent {
	present := before
	if after != nil {
		present = after
	}
	action := fwk.Update
	switch {
	case before == nil:
		action = fwk.Add
	case after == nil:
		action = fwk.Delete
	}
	switch o := present.(type) {
	case *v1.Node:
		if action == fwk.Update {
			return framework.NodeSchedulingPropertiesChange(o, before.(*v1.Node))
		}
		return []fwk.ClusterEvent{{Resource: fwk.Node, ActionType: action}}
	case *v1.Pod:
		return podClusterEvents(pod, before, o, action)
	default:
		return []fwk.ClusterEvent{{Resource: resourceOf(present.(apiruntime.Object)), ActionType: action}}
	}
}

func podClusterEvents(pod *v1.Pod, before any, present *v1.Pod, action fwk.ActionType) []fwk.ClusterEvent {
	switch {
	case action == fwk.Update:
		return framework.PodSchedulingPropertiesChange(present, before.(*v1.Pod), present.UID == pod.UID)
	case present.Spec.NodeName != "":
		return []fwk.ClusterEvent{{Resource: fwk.AssignedPod, ActionType: action}}
	case action == fwk.Delete && present.Status.NominatedNodeName != "":
		return []fwk.ClusterEvent{{Resource: fwk.AssignedPod, ActionType: action}}
	default:
		return nil
	}
}

func resourceOf(o apiruntime.Object) fwk.EventResource {
	switch o.(type) {
	case *v1.PersistentVolume:
		return fwk.PersistentVolume
	case *v1.PersistentVolumeClaim:
		return fwk.PersistentVolumeClaim
	case *storagev1.CSINode:
		return fwk.CSINode
	case *storagev1.CSIDriver:
		return fwk.CSIDriver
	case *storagev1.VolumeAttachment:
		return fwk.VolumeAttachment
	case *storagev1.CSIStorageCapacity:
		return fwk.CSIStorageCapacity
	case *storagev1.StorageClass:
		return fwk.StorageClass
	case *resourceapi.DeviceClass:
		return fwk.DeviceClass
	default:
		return "none"
	}
}

// ask runs the hint functions that match the event, as isPodWorthRequeuing does,
// but of all plugins, whether they rejected the pod or not. A plugin with
// several answers has said Queue if any of them is, and a failed one is Queue.
func ask(ctx context.Context, fw framework.Framework, pod *v1.Pod, ce fwk.ClusterEvent, before, after any) (map[string]string, error) {
	answers := map[string]string{}
	for _, plugin := range fw.EnqueueExtensions() {
		registered, err := plugin.EventsToRegister(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range registered {
			if !framework.MatchClusterEvents(r.Event, ce) {
				continue
			}
			hint := fwk.Queue
			if r.QueueingHintFn != nil {
				if hint, err = r.QueueingHintFn(klog.FromContext(ctx), pod, before, after); err != nil {
					hint = fwk.Queue
				}
			}
			if answers[plugin.Name()] != fwk.Queue.String() {
				answers[plugin.Name()] = hint.String()
			}
		}
	}
	return answers, nil
}
