package main

import (
	"encoding/json"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Op is one API write, replayed to the letter; {scheduler} in the body is the scheduler's name.
type Op struct {
	Note   string          `json:"note"`
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body,omitempty"`
	Settle bool            `json:"settle,omitempty"` // wait a moment for rest before the next op of the step
}

func js(o any) json.RawMessage {
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return b
}

func post(note, path string, o any) Op {
	return Op{Note: note, Method: "POST", Path: path, Body: js(o)}
}
func patch(note, path string, o any) Op {
	return Op{Note: note, Method: "PATCH", Path: path, Body: js(o)}
}
func del(note, path string, grace int64) Op {
	o := Op{Note: note, Method: "DELETE", Path: path}
	if grace >= 0 {
		o.Body = js(map[string]any{"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": grace})
	}
	return o
}

type M = map[string]any

func q(s string) resource.Quantity { return resource.MustParse(s) }
func nodePath(n string) string     { return "/api/v1/nodes/" + n }
func podPath(k string) string {
	ns, n, _ := strings.Cut(k, "/")
	return "/api/v1/namespaces/" + ns + "/pods/" + n
}

func tm(v, k string) metav1.TypeMeta { return metav1.TypeMeta{APIVersion: v, Kind: k} }

func nameOf(k string) string { _, n, _ := strings.Cut(k, "/"); return n }
