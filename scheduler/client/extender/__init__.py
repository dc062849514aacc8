"""HTTP extenders: other processes that are asked about pods and nodes (k8s.io/kube-scheduler/extender/v1)."""
