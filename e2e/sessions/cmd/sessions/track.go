package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// Obj is what is recorded of one object; State is keyed "pod ns/name" or "pvc ns/name".
type Obj map[string]string
type State map[string]Obj

const (
	annSelected   = "volume.kubernetes.io/selected-node"
	annStart      = "sessions.dev/start" // the minute in which a pod starts, if not that of its number
	annBindDone   = "pv.kubernetes.io/bind-completed"
	labelFailOnce = "sessions.dev/fail-once" // the fake provisioner refuses the first selected node
	dynClass      = "dyn"                    // StorageClass of the fake provisioner
	allowedClass  = "allowed"                // another one, which provisions in some zones only
	capacityClass = "capacity"               // a third one, whose driver tells how much room there is
	driverName    = "csi.sessions.dev"
	capacityName  = "capacity.sessions.dev"
)

// tracker watches pods, claims, volumes and events, plays volume controller
// and provisioner, and knows when the cluster has come to rest.
type tracker struct {
	name string // scheduler name
	cs   *kubernetes.Clientset
	ctx  context.Context

	mu      sync.Mutex
	last    time.Time
	pods    map[string]*v1.Pod
	gone    map[string]bool
	pvcs    map[string]*v1.PersistentVolumeClaim
	events  map[string]map[string]bool // by pod key
	sched   map[string]bool            // pods with a Scheduled event
	uids    map[string]string
	refused map[string]bool
	errs    map[string]bool
}

func newTracker(ctx context.Context, cs *kubernetes.Clientset, name string) (*tracker, error) {
	t := &tracker{name: name, cs: cs, ctx: ctx, last: time.Now(), pods: map[string]*v1.Pod{}, gone: map[string]bool{},
		pvcs: map[string]*v1.PersistentVolumeClaim{}, events: map[string]map[string]bool{}, sched: map[string]bool{},
		uids: map[string]string{}, refused: map[string]bool{}, errs: map[string]bool{}}
	f := informers.NewSharedInformerFactory(cs, 0)
	add := func(i cache.SharedIndexInformer, up func(o any), del func(o any)) {
		i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { t.mu.Lock(); t.last = time.Now(); up(o); t.mu.Unlock() },
			UpdateFunc: func(_, o any) { t.mu.Lock(); t.last = time.Now(); up(o); t.mu.Unlock() },
			DeleteFunc: func(o any) {
				if d, ok := o.(cache.DeletedFinalStateUnknown); ok {
					o = d.Obj
				}
				t.mu.Lock()
				t.last = time.Now()
				del(o)
				t.mu.Unlock()
			},
		})
	}
	key := func(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }
	add(f.Core().V1().Pods().Informer(), func(o any) {
		p := o.(*v1.Pod)
		if t.pods[key(p)] == nil {
			go t.claims(p)
		}
		t.pods[key(p)] = p
		delete(t.gone, key(p))
		t.uids[string(p.UID)] = key(p)
	}, func(o any) {
		p := o.(*v1.Pod)
		t.pods[key(p)] = p
		t.gone[key(p)] = true
	})
	add(f.Core().V1().PersistentVolumeClaims().Informer(), func(o any) {
		c := o.(*v1.PersistentVolumeClaim)
		t.pvcs[key(c)] = c
		t.uids[string(c.UID)] = key(c)
		if c.Spec.VolumeName == "" && c.Annotations[annSelected] != "" && provisioned(c) {
			refuse := c.Labels[labelFailOnce] != "" && !t.refused[key(c)]
			t.refused[key(c)] = true
			go t.provision(c, refuse)
		}
	}, func(o any) { delete(t.pvcs, key(o.(*v1.PersistentVolumeClaim))) })
	add(f.Core().V1().PersistentVolumes().Informer(), func(o any) {
		pv := o.(*v1.PersistentVolume)
		if pv.Spec.ClaimRef != nil && pv.Status.Phase != v1.VolumeBound {
			go t.bindPV(pv)
		}
	}, func(any) {})
	add(f.Events().V1().Events().Informer(), func(o any) {
		e := o.(*eventsv1.Event)
		if e.Regarding.Kind != "Pod" {
			return
		}
		k := e.Regarding.Namespace + "/" + e.Regarding.Name
		if t.events[k] == nil {
			t.events[k] = map[string]bool{}
		}
		rel := ""
		if e.Related != nil {
			rel = " (" + e.Related.Kind + " " + e.Related.Namespace + "/" + e.Related.Name + ")"
		}
		t.events[k][fmt.Sprintf("%s %s %s by %s%s: %s", e.Type, e.Reason, e.Action, e.ReportingController, rel, e.Note)] = true
		if e.Reason == "Scheduled" {
			t.sched[k] = true
		}
	}, func(any) {})
	f.Start(ctx.Done())
	f.WaitForCacheSync(ctx.Done())
	return t, nil
}

func (t *tracker) note(err error) {
	if err != nil && t.ctx.Err() == nil {
		t.mu.Lock()
		t.errs[err.Error()] = true
		t.mu.Unlock()
	}
}

func provisioned(c *v1.PersistentVolumeClaim) bool {
	return c.Spec.StorageClassName != nil && slices.Contains([]string{dynClass, allowedClass, capacityClass}, *c.Spec.StorageClassName)
}

// claims is the controller of ephemeral volumes; it comes late, so that the scheduler sees the pod without its claim.
func (t *tracker) claims(p *v1.Pod) {
	for _, v := range p.Spec.Volumes {
		if v.Ephemeral == nil {
			continue
		}
		time.Sleep(300 * time.Millisecond)
		yes := true
		c := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: p.Name + "-" + v.Name, Namespace: p.Namespace, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: &yes}}}, Spec: v.Ephemeral.VolumeClaimTemplate.Spec}
		t.cs.CoreV1().PersistentVolumeClaims(p.Namespace).Create(t.ctx, c, metav1.CreateOptions{})
	}
}

// provision is the external provisioner: a volume on the selected node, or a refusal.
func (t *tracker) provision(c *v1.PersistentVolumeClaim, refuse bool) {
	if refuse {
		time.Sleep(300 * time.Millisecond)
		_, err := t.cs.CoreV1().PersistentVolumeClaims(c.Namespace).Patch(t.ctx, c.Name, types.MergePatchType,
			[]byte(`{"metadata":{"annotations":{"`+annSelected+`":null}}}`), metav1.PatchOptions{})
		t.note(err)
		return
	}
	n, err := t.cs.CoreV1().Nodes().Get(t.ctx, c.Annotations[annSelected], metav1.GetOptions{})
	if err != nil {
		return
	}
	k, v := "kubernetes.io/hostname", n.Labels["kubernetes.io/hostname"]
	if z := n.Labels[zoneLabel]; z != "" && c.Labels["sessions.dev/zonal"] != "" {
		k, v = zoneLabel, z
	}
	pv := newPV("dyn-"+c.Namespace+"-"+c.Name, *c.Spec.StorageClassName, c.Spec.Resources.Requests[v1.ResourceStorage], k, v)
	pv.Spec.AccessModes = c.Spec.AccessModes
	pv.Spec.ClaimRef = &v1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: c.Namespace, Name: c.Name, UID: c.UID}
	t.cs.CoreV1().PersistentVolumes().Create(t.ctx, pv, metav1.CreateOptions{})
}

// bindPV completes a binding that was started by setting claimRef.
func (t *tracker) bindPV(pv *v1.PersistentVolume) {
	ref := pv.Spec.ClaimRef
	api := t.cs.CoreV1().PersistentVolumeClaims(ref.Namespace)
	for try := 0; try < 5 && t.ctx.Err() == nil; try++ {
		c, err := api.Get(t.ctx, ref.Name, metav1.GetOptions{})
		if err != nil || (c.Spec.VolumeName != "" && c.Spec.VolumeName != pv.Name) {
			return
		}
		if c.Spec.VolumeName == "" {
			c.Spec.VolumeName = pv.Name
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, annBindDone, "yes")
			if c, err = api.Update(t.ctx, c, metav1.UpdateOptions{}); err != nil {
				continue
			}
		}
		if c.Status.Phase != v1.ClaimBound {
			c.Status.Phase, c.Status.AccessModes, c.Status.Capacity = v1.ClaimBound, c.Spec.AccessModes, pv.Spec.Capacity
			if _, err = api.UpdateStatus(t.ctx, c, metav1.UpdateOptions{}); err != nil {
				continue
			}
		}
		_, err = t.cs.CoreV1().PersistentVolumes().Patch(t.ctx, pv.Name, types.MergePatchType, []byte(`{"status":{"phase":"Bound"}}`), metav1.PatchOptions{}, "status")
		t.note(err)
		return
	}
}

func cond(p *v1.Pod, ty v1.PodConditionType) *v1.PodCondition {
	for i := range p.Status.Conditions {
		if p.Status.Conditions[i].Type == ty {
			return &p.Status.Conditions[i]
		}
	}
	return nil
}

// Idle holds how long nothing may change before the cluster counts as at rest.
type Idle struct {
	None, Pending, Many, Volume, Error, Short, Max time.Duration
}

// binding tells whether the scheduler may be waiting for a volume of the pod: it looks once a second.
func (t *tracker) binding(p *v1.Pod) bool {
	for _, v := range p.Spec.Volumes {
		name := p.Name + "-" + v.Name
		if v.PersistentVolumeClaim != nil {
			name = v.PersistentVolumeClaim.ClaimName
		}
		if c := t.pvcs[p.Namespace+"/"+name]; c != nil && (c.Annotations[annSelected] != "" || c.Spec.VolumeName != "") {
			return true
		}
	}
	return false
}

// rest says how long nothing may change for the cluster to be at rest; 0: a pod is not settled yet.
func (t *tracker) rest(id Idle, short bool) time.Duration {
	w, pending := id.None, 0
	if short {
		w = id.Short
	}
	for k, p := range t.pods {
		if t.gone[k] || p.Spec.SchedulerName != t.name {
			continue
		}
		if p.Spec.NodeName != "" {
			if !t.sched[k] && p.Annotations["sessions.dev/direct"] == "" {
				return 0
			}
			continue
		}
		c := cond(p, v1.PodScheduled)
		switch {
		case c == nil:
			return 0
		case len(p.Spec.SchedulingGates) > 0:
			continue
		case c.Reason == v1.PodReasonSchedulingGated:
			return 0
		case c.Reason == v1.PodReasonSchedulerError:
			w = max(w, id.Error)
		case t.binding(p):
			w = max(w, id.Volume)
		}
		pending++
	}
	if short {
		return w
	}
	switch {
	case pending > 1:
		w = max(w, id.Many)
	case pending == 1:
		w = max(w, id.Pending)
	}
	return w
}

// wait returns when the cluster is at rest; false after Idle.Max.
func (t *tracker) wait(id Idle, short bool) bool {
	for end := time.Now().Add(id.Max); time.Now().Before(end); time.Sleep(25 * time.Millisecond) {
		t.mu.Lock()
		d, w := time.Since(t.last), t.rest(id, short)
		t.mu.Unlock()
		if w > 0 && d >= w {
			return true
		}
	}
	return false
}

var uidRE = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func (t *tracker) norm(s string) string {
	s = uidRE.ReplaceAllStringFunc(s, func(u string) string {
		if n := t.uids[u]; n != "" {
			return "{uid of " + n + "}"
		}
		return "{uid}"
	})
	if t.name != "" {
		s = strings.ReplaceAll(s, t.name, "{scheduler}")
	}
	return s
}

func (t *tracker) state() State {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := State{}
	put := func(o Obj, k, v string) {
		if v != "" {
			o[k] = t.norm(v)
		}
	}
	for k, p := range t.pods {
		o := Obj{}
		put(o, "node", p.Spec.NodeName)
		put(o, "nominated", p.Status.NominatedNodeName)
		if c := cond(p, v1.PodScheduled); c != nil {
			v := string(c.Status)
			if c.Reason != "" || c.Message != "" {
				v += "/" + c.Reason + ": " + c.Message
			}
			put(o, "scheduled", v)
			if c.ObservedGeneration != 0 {
				put(o, "scheduledGeneration", fmt.Sprint(c.ObservedGeneration))
			}
		}
		if c := cond(p, v1.DisruptionTarget); c != nil {
			put(o, "disruption", string(c.Status)+"/"+c.Reason+": "+c.Message)
		}
		if t.gone[k] {
			o["gone"] = "yes"
		} else if p.DeletionTimestamp != nil {
			o["deleting"] = "yes"
		}
		var ev []string
		for e := range t.events[k] {
			ev = append(ev, t.norm(e))
		}
		sort.Strings(ev)
		if len(ev) > 0 {
			o["events"] = strings.Join(ev, "\n")
		}
		s["pod "+k] = o
	}
	for k, c := range t.pvcs {
		o := Obj{}
		put(o, "selectedNode", c.Annotations[annSelected])
		put(o, "volume", c.Spec.VolumeName)
		s["pvc "+k] = o
	}
	return s
}

// kubelet marks bound pods as running, with a start time that follows from the pod's number.
func (t *tracker) kubelet(base time.Time) int {
	t.mu.Lock()
	var todo []*v1.Pod
	for k, p := range t.pods {
		if !t.gone[k] && p.Spec.NodeName != "" && p.Status.StartTime == nil && p.Spec.SchedulerName == t.name {
			todo = append(todo, p)
		}
	}
	t.mu.Unlock()
	sort.Slice(todo, func(i, j int) bool { return podNumber(todo[i].Name) < podNumber(todo[j].Name) })
	for _, p := range todo {
		minute := podNumber(p.Name)
		if s := p.Annotations[annStart]; s != "" { // several pods may have started at the same time
			minute, _ = strconv.Atoi(s)
		}
		b, _ := json.Marshal(map[string]any{"status": map[string]any{"phase": "Running",
			"startTime": base.Add(time.Duration(minute) * time.Minute).UTC().Format(time.RFC3339)}})
		t.cs.CoreV1().Pods(p.Namespace).Patch(t.ctx, p.Name, types.MergePatchType, b, metav1.PatchOptions{}, "status")
	}
	return len(todo)
}
func podNumber(n string) int {
	x := 0
	fmt.Sscanf(strings.TrimLeft(n, "abcdefghijklmnopqrstuvwxyz-"), "%d", &x)
	return x
}
