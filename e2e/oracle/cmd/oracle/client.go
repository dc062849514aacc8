package main

import (
	"fmt"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// recorder is the client's memory of what the scheduler asked the API server to do.
type recorder struct {
	mu      sync.Mutex
	deleted []string
	claims  []string
	// controller answers the writes of the binding cycle, if that is run.
	controller *volumeController
}

func (r *recorder) claim(u clienttesting.UpdateAction) {
	m, err := meta.Accessor(u.GetObject())
	if err != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.claims = append(r.claims, m.GetNamespace()+"/"+m.GetName())
}

func newClient(r *recorder, pods map[string]*v1.Pod) *fake.Clientset {
	cs := &fake.Clientset{}
	cs.AddReactor("*", "*", func(a clienttesting.Action) (bool, apiruntime.Object, error) { return r.controller.react(a) })
	cs.AddReactor("*", "*", func(a clienttesting.Action) (bool, apiruntime.Object, error) {
		switch a := a.(type) {
		case clienttesting.DeleteAction:
			if a.GetResource().Resource == "pods" {
				r.mu.Lock()
				r.deleted = append(r.deleted, a.GetNamespace()+"/"+a.GetName())
				r.mu.Unlock()
			}
			return true, nil, nil
		case clienttesting.PatchAction:
			if a.GetResource().Resource == "pods" {
				if p := pods[a.GetNamespace()+"/"+a.GetName()]; p != nil {
					return true, p, nil
				}
				return true, &v1.Pod{}, nil
			}
		}
		if u, ok := a.(clienttesting.UpdateAction); ok && a.GetResource().Resource == "resourceclaims" {
			r.claim(u)
			return true, u.GetObject(), nil
		}
		return true, nil, fmt.Errorf("oracle: unexpected API call %s %s", a.GetVerb(), a.GetResource().Resource)
	})
	return cs
}

// newTrackedClient is client-go's own fake, which lists and watches the objects.
func newTrackedClient(r *recorder, objs []decoded) *fake.Clientset {
	list := make([]apiruntime.Object, 0, len(objs))
	for _, o := range objs {
		list = append(list, o.obj.DeepCopyObject())
	}
	cs := fake.NewSimpleClientset(list...)
	cs.PrependReactor("delete", "pods", func(a clienttesting.Action) (bool, apiruntime.Object, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.deleted = append(r.deleted, a.GetNamespace()+"/"+a.(clienttesting.DeleteAction).GetName())
		return true, nil, nil
	})
	cs.PrependReactor("update", "resourceclaims", func(a clienttesting.Action) (bool, apiruntime.Object, error) {
		r.claim(a.(clienttesting.UpdateAction))
		return false, nil, nil
	})
	return cs
}
