"""KubeSchedulerConfiguration v1, feature gates, the command line: read, defaulted, validated, written."""
