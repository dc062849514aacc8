"""The version of Berth, and the kube-scheduler whose decisions it takes."""

__version__ = "0.1.0"
KUBERNETES_VERSION = "v1.37.2"
