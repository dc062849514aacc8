package main

import (
	"fmt"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
	fwk "k8s.io/kube-scheduler/framework"
)

// bound is how the binding cycle ends on one node, from Reserve on.
type bound struct {
	Node    string   `json:"node"`
	Code    string   `json:"code"`
	Plugin  string   `json:"plugin,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	// Writes are what the API server is asked for, in order.
	Writes []string `json:"writes"`
}

// What the stand-in for the volume controllers does about a volume or a claim
// that was written.
const (
	binds     = "binds"     // binds it, or makes a volume and binds that
	lags      = "lags"      // the same, but it takes its time
	dawdles   = "dawdles"   // the same, but what was written is heard of at once
	outruns   = "outruns"   // binds it, and a volume that was made is heard of later than that
	resets    = "resets"    // undoes what was written
	misplaces = "misplaces" // binds it to a volume that is out of the node's reach
	loses     = "loses"     // the claim is deleted
	forgets   = "forgets"   // the pod is deleted
	refuses   = "refuses"   // the API server refuses
	// unbindable: as with binds, but the API server refuses to bind the pod itself
	unbindable = "unbindable"
)

// lag is longer than the second after which the scheduler looks for the first time.
const lag = 1200 * time.Millisecond

// volumeController answers the scheduler's writes and delivers what comes of them.
type volumeController struct {
	mu       sync.Mutex
	factory  *syncFactory
	behavior string
	pod      *v1.Pod
	writes   []string
}

// react handles the writes of the binding cycle; handled is false for all other calls.
func (c *volumeController) react(a clienttesting.Action) (handled bool, obj apiruntime.Object, err error) {
	if c == nil {
		return false, nil, nil
	}
	if create, ok := a.(clienttesting.CreateAction); ok && a.GetSubresource() == "binding" {
		target := create.GetObject().(*v1.Binding).Target.Name
		c.note(fmt.Sprintf("bind %s/%s to %s", a.GetNamespace(), create.GetObject().(*v1.Binding).Name, target))
		if c.behavior == unbindable {
			return true, nil, fmt.Errorf("the server says no")
		}
		return true, create.GetObject(), nil
	}
	update, ok := a.(clienttesting.UpdateAction)
	if !ok {
		return false, nil, nil
	}
	switch o := update.GetObject().(type) {
	case *v1.PersistentVolume:
		c.note(fmt.Sprintf("volume %s for %s/%s", o.Name, o.Spec.ClaimRef.Namespace, o.Spec.ClaimRef.Name))
		stored := o.DeepCopy()
		stored.ResourceVersion = "1000"
		return true, stored, c.answer(func() error { return c.bindStatic(stored) })
	case *v1.PersistentVolumeClaim:
		c.note(fmt.Sprintf("claim %s/%s on %s", o.Namespace, o.Name, o.Annotations[selectedNode]))
		stored := o.DeepCopy()
		stored.ResourceVersion = "1000"
		return true, stored, c.answer(func() error { return c.provision(stored) })
	}
	return false, nil, nil
}

const (
	selectedNode  = "volume.kubernetes.io/selected-node"
	bindCompleted = "pv.kubernetes.io/bind-completed"
)

func (c *volumeController) note(write string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes = append(c.writes, write)
}

func (c *volumeController) answer(act func() error) error {
	switch c.behavior {
	case refuses:
		return fmt.Errorf("the server says no")
	case forgets:
		c.factory.remove(c.pod)
		return nil
	case lags:
		time.AfterFunc(lag, func() { _ = act() })
		return nil
	}
	return act()
}

func (c *volumeController) bindStatic(volume *v1.PersistentVolume) error {
	ref := volume.Spec.ClaimRef
	claim := c.claim(ref.Namespace, ref.Name)
	if claim == nil {
		return fmt.Errorf("no claim %s/%s", ref.Namespace, ref.Name)
	}
	switch c.behavior {
	case resets:
		volume = volume.DeepCopy()
		volume.Spec.ClaimRef = nil
		return c.factory.replace(volume)
	case loses:
		c.factory.remove(claim)
		return c.factory.replace(volume)
	case misplaces:
		volume = volume.DeepCopy()
		volume.Spec.NodeAffinity = outOfReach()
	}
	if err := c.factory.replace(volume); err != nil {
		return err
	}
	if c.behavior == dawdles {
		time.AfterFunc(lag, func() { _ = c.complete(claim, volume.Name) })
		return nil
	}
	return c.complete(claim, volume.Name)
}

func (c *volumeController) provision(claim *v1.PersistentVolumeClaim) error {
	switch c.behavior {
	case resets:
		claim = claim.DeepCopy()
		delete(claim.Annotations, selectedNode)
		if len(claim.Annotations) == 0 {
			claim.Annotations = nil // as it comes from the API server
		}
		return c.factory.replace(claim)
	case loses:
		c.factory.remove(claim)
		return nil
	}
	volume := &v1.PersistentVolume{}
	volume.Name, volume.UID, volume.ResourceVersion = "made-"+claim.Name, "uid-made", "1001"
	switch c.behavior {
	case misplaces:
		volume.Spec.NodeAffinity = outOfReach()
	case outruns:
		time.AfterFunc(lag, func() { _ = c.factory.replace(volume) })
		return c.complete(claim, volume.Name)
	case dawdles:
		if err := c.factory.replace(claim); err != nil {
			return err
		}
		time.AfterFunc(lag, func() {
			_ = c.factory.replace(volume)
			_ = c.complete(claim, volume.Name)
		})
		return nil
	}
	if err := c.factory.replace(volume); err != nil {
		return err
	}
	return c.complete(claim, volume.Name)
}

func (c *volumeController) claim(namespace, name string) *v1.PersistentVolumeClaim {
	claim, err := c.factory.Core().V1().PersistentVolumeClaims().Lister().PersistentVolumeClaims(namespace).Get(name)
	if err != nil {
		return nil
	}
	return claim
}

func (c *volumeController) complete(claim *v1.PersistentVolumeClaim, volume string) error {
	claim = claim.DeepCopy()
	claim.ResourceVersion = "1001"
	if claim.Annotations == nil {
		claim.Annotations = map[string]string{}
	}
	claim.Spec.VolumeName, claim.Annotations[bindCompleted] = volume, "yes"
	return c.factory.replace(claim)
}

func outOfReach() *v1.VolumeNodeAffinity {
	return &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
		MatchExpressions: []v1.NodeSelectorRequirement{{Key: "nowhere", Operator: v1.NodeSelectorOpIn, Values: []string{"x"}}},
	}}}}
}

// bind takes the binding cycle to its end on the first of the best nodes.
func (o *oneRun) bind(state fwk.CycleState, c *volumeController) {
	if len(o.res.Best) == 0 {
		return
	}
	b := &bound{Node: o.res.Best[0]}
	o.res.Bound = b
	pod := o.pod.DeepCopy()
	pod.Spec.NodeName = b.Node
	st := o.fw.RunReservePluginsReserve(o.ctx, state, pod, b.Node)
	defer o.fw.RunReservePluginsUnreserve(o.ctx, state, pod, b.Node)
	if st.IsSuccess() {
		if st = o.fw.RunPreBindPreFlights(o.ctx, state, pod, b.Node); st.IsSkip() {
			st = nil
		}
	}
	if st.IsSuccess() {
		st = o.fw.RunPreBindPlugins(o.ctx, state, pod, b.Node)
	}
	if st.IsSuccess() {
		st = o.fw.RunBindPlugins(o.ctx, state, pod, b.Node)
	}
	b.Code, b.Plugin, b.Reasons = st.Code().String(), pluginOf(st), reasonsOf(st)
	c.mu.Lock()
	defer c.mu.Unlock()
	b.Writes = append([]string{}, slices.Clone(c.writes)...)
}
