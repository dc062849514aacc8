package main

import (
	"encoding/json"
	"net"
	"net/http"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// extender answers by the numbers in the names of pod and node alone, so that it says the same to every scheduler.
// It is asked with names of nodes (nodeCacheCapable).
type extender struct {
	url string
	srv *http.Server
}

func startExtender() (*extender, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/filter", answer(extendFilter))
	mux.HandleFunc("/prioritize", answer(extendScores))
	mux.HandleFunc("/preempt", answer(extendPreemption))
	e := &extender{"http://" + l.Addr().String(), &http.Server{Handler: mux}}
	go e.srv.Serve(l)
	return e, nil
}

func (e *extender) stop() { e.srv.Close() }

func answer[In, Out any](f func(In) Out) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in In
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(f(in))
	}
}

// sum differs from pod to pod and from node to node.
func sum(p *v1.Pod, node string) int { return 3*podNumber(node) + podNumber(p.Name) }

func extendFilter(in extenderv1.ExtenderArgs) *extenderv1.ExtenderFilterResult {
	out := &extenderv1.ExtenderFilterResult{NodeNames: &[]string{}, FailedNodes: extenderv1.FailedNodesMap{}, FailedAndUnresolvableNodes: extenderv1.FailedNodesMap{}}
	for _, n := range *in.NodeNames {
		switch sum(in.Pod, n) % 7 {
		case 2:
			out.FailedNodes[n] = "the extender is busy there"
		case 5:
			out.FailedAndUnresolvableNodes[n] = "the extender is not there"
		default:
			*out.NodeNames = append(*out.NodeNames, n)
		}
	}
	return out
}

func extendScores(in extenderv1.ExtenderArgs) *extenderv1.HostPriorityList {
	out := extenderv1.HostPriorityList{}
	for _, n := range *in.NodeNames {
		out = append(out, extenderv1.HostPriority{Host: n, Score: int64(sum(in.Pod, n) % 11)})
	}
	return &out
}

// extendPreemption takes away some nodes, if others are left.
func extendPreemption(in extenderv1.ExtenderPreemptionArgs) *extenderv1.ExtenderPreemptionResult {
	some, all := map[string]*extenderv1.MetaVictims{}, in.NodeNameToMetaVictims
	for n, v := range all {
		if sum(in.Pod, n)%3 != 0 {
			some[n] = v
		}
	}
	if len(some) == 0 {
		some = all
	}
	return &extenderv1.ExtenderPreemptionResult{NodeNameToMetaVictims: some}
}
