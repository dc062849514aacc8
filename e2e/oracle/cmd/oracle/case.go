package main

import (
	"encoding/json"
	"fmt"
	"sort"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/validation"
)

type options struct{ check, defaults, debug, realInformers bool }

type inputCase struct {
	ID      any               `json:"id"`
	Config  json.RawMessage   `json:"config"`
	Objects []json.RawMessage `json:"objects"`
	Pod     json.RawMessage   `json:"pod"`
	Events  []inputEvent      `json:"events"`
	// Sampling: tell as well how SchedulePod fares under the configured percentageOfNodesToScore.
	Sampling bool `json:"sampling"`
	// Binding: what the stand-in for the volume controllers does when the binding cycle is run as well; see bind.go.
	Binding string `json:"binding"`
}

type nodeScore struct {
	Total   int64            `json:"total"`
	Plugins map[string]int64 `json:"plugins"`
	Raw     map[string]int64 `json:"raw,omitempty"`
}

type nodeStatus struct {
	Plugin  string   `json:"plugin"`
	Code    string   `json:"code"`
	Reasons []string `json:"reasons"`
	// Restricted: the node was left out by a PreFilterResult; no Filter ran on it.
	Restricted bool `json:"restricted,omitempty"`
}

type preFilterStatus struct {
	Code    string   `json:"code"`
	Plugin  string   `json:"plugin,omitempty"`
	Reasons []string `json:"reasons,omitempty"`
	// NodeNames is the PreFilterResult; null means all nodes.
	NodeNames     *[]string `json:"nodeNames,omitempty"`
	RestrictedBy  []string  `json:"restrictedBy,omitempty"`
	SkippedFilter []string  `json:"skippedFilter,omitempty"`
}

type candidate struct {
	Node          string   `json:"node"`
	Victims       []string `json:"victims"`
	PDBViolations int64    `json:"pdbViolations"`
}

type postFilter struct {
	Code          string  `json:"code"`
	Plugin        string  `json:"plugin,omitempty"`
	Message       string  `json:"message,omitempty"`
	NominatedNode *string `json:"nominatedNode"`
	// Victims in the order of importance, as the candidate lists them.
	Victims []string `json:"victims"`
	// Deleted: the pods for which the client saw a delete call, sorted.
	Deleted []string `json:"deleted"`
	// Ties: all candidates among which the scheduler picks at random.
	Ties []candidate `json:"ties,omitempty"`
	// Candidates: every node on which preemption would help.
	Candidates []candidate `json:"candidates,omitempty"`
	// DeallocatedClaims: the claims whose allocation DynamicResources gave up.
	DeallocatedClaims []string `json:"deallocatedClaims,omitempty"`
	// ClearedNominations: pods of lower priority that lose their nomination.
	ClearedNominations []string `json:"clearedNominations,omitempty"`
}

type result struct {
	ID            any                   `json:"id"`
	Feasible      map[string]nodeScore  `json:"feasible"`
	Infeasible    map[string]nodeStatus `json:"infeasible"`
	Best          []string              `json:"best"`
	PreFilter     *preFilterStatus      `json:"prefilter_status,omitempty"`
	PreScoreSkip  []string              `json:"prescore_skipped,omitempty"`
	ScoreSkipped  bool                  `json:"score_skipped,omitempty"`
	NominatedPath bool                  `json:"nominated_path,omitempty"`
	Unschedulable []string              `json:"unschedulable_plugins,omitempty"`
	Message       string                `json:"message,omitempty"`
	Reason        string                `json:"reason,omitempty"`
	PostFilter    *postFilter           `json:"postfilter,omitempty"`
	Reserve       map[string]*reserved  `json:"reserve,omitempty"`
	Hints         [][]hinted            `json:"hints,omitempty"`
	Sampled       []sampled             `json:"sampled,omitempty"`
	Bound         *bound                `json:"bound,omitempty"`
	Error         string                `json:"error,omitempty"`
}

// sampled is one attempt that looks at no more nodes than configured.
type sampled struct {
	Evaluated int `json:"evaluated"`
	Feasible  int `json:"feasible"`
}

func loadConfig(raw json.RawMessage, sampling bool) (*config.KubeSchedulerConfiguration, error) {
	var cfg *config.KubeSchedulerConfiguration
	if len(raw) == 0 || string(raw) == "null" {
		c, err := latest.Default()
		if err != nil {
			return nil, err
		}
		cfg = c
	} else {
		obj, gvk, err := configscheme.Codecs.UniversalDecoder().Decode(raw, nil, nil)
		if err != nil {
			return nil, err
		}
		c, ok := obj.(*config.KubeSchedulerConfiguration)
		if !ok {
			return nil, fmt.Errorf("not a KubeSchedulerConfiguration: %s", gvk)
		}
		c.TypeMeta.APIVersion = gvk.GroupVersion().String()
		cfg = c
	}
	if err := validation.ValidateKubeSchedulerConfiguration(cfg); err != nil {
		return nil, err
	}
	if sampling {
		return cfg, nil
	}
	all := int32(100)
	cfg.PercentageOfNodesToScore = &all
	for i := range cfg.Profiles {
		cfg.Profiles[i].PercentageOfNodesToScore = &all
	}
	return cfg, nil
}

func pluginOf(st *fwk.Status) string {
	if st == nil {
		return ""
	}
	return st.Plugin()
}

func reasonsOf(st *fwk.Status) []string {
	if st == nil {
		return nil
	}
	return st.Reasons()
}

func statusOf(st *fwk.Status) nodeStatus {
	// Sorted, for with several extended resources their order is that of a Go map.
	reasons := append([]string{}, st.Reasons()...)
	sort.Strings(reasons)
	return nodeStatus{Plugin: pluginOf(st), Code: st.Code().String(), Reasons: reasons}
}
