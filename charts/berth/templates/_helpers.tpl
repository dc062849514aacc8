{{/* The chart's part of object names. */}}
{{- define "berth.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* The name of namespaced objects: the release's, with the chart's name unless it is in there. */}}
{{- define "berth.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" }}
{{- else if contains (include "berth.name" .) .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "berth.name" .) | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* The name of objects outside the release's namespace. The namespace is part of it, so that releases of one name don't meet. */}}
{{- define "berth.clusterName" -}}
{{- printf "%s:%s" .Release.Namespace (include "berth.fullname" .) }}
{{- end }}

{{- define "berth.selectorLabels" -}}
app.kubernetes.io/name: {{ include "berth.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "berth.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "berth.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: scheduler
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "berth.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "berth.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "berth.image" -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- define "berth.leaseName" -}}
{{- default (include "berth.fullname" .) .Values.leaderElection.resourceName }}
{{- end }}

{{- define "berth.leaseNamespace" -}}
{{- default .Release.Namespace .Values.leaderElection.resourceNamespace }}
{{- end }}

{{/* The profiles as a JSON object {"profiles": [...]}: from config, profiles or schedulerName, whichever is given first. */}}
{{- define "berth.profiles" -}}
{{- if .Values.config.profiles }}
{{- dict "profiles" .Values.config.profiles | toJson }}
{{- else if .Values.profiles }}
{{- dict "profiles" .Values.profiles | toJson }}
{{- else }}
{{- dict "profiles" (list (dict "schedulerName" .Values.schedulerName)) | toJson }}
{{- end }}
{{- end }}

{{/* The scheduler names of all profiles, joined by ", ". */}}
{{- define "berth.schedulerNames" -}}
{{- $names := list }}
{{- range (include "berth.profiles" . | fromJson).profiles }}
{{- $names = append $names (default "default-scheduler" .schedulerName) }}
{{- end }}
{{- join ", " $names }}
{{- end }}

{{/* The KubeSchedulerConfiguration. */}}
{{- define "berth.config" -}}
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: {{ .Values.leaderElection.enabled }}
  leaseDuration: {{ .Values.leaderElection.leaseDuration }}
  renewDeadline: {{ .Values.leaderElection.renewDeadline }}
  retryPeriod: {{ .Values.leaderElection.retryPeriod }}
  resourceLock: leases
  resourceName: {{ include "berth.leaseName" . }}
  resourceNamespace: {{ include "berth.leaseNamespace" . }}
{{- with omit .Values.config "apiVersion" "kind" "profiles" }}
{{ toYaml . }}
{{- end }}
{{ include "berth.profiles" . | fromJson | toYaml }}
{{- end }}

{{/* What of the configuration is read at the start only: all but what profiles do to Pods. */}}
{{- define "berth.startConfig" -}}
{{- $profiles := list }}
{{- range (include "berth.profiles" . | fromJson).profiles }}
{{- $sort := dig "plugins" "queueSort" dict . }}
{{- $profiles = append $profiles (dict "schedulerName" .schedulerName "queueSort" $sort) }}
{{- end }}
{{- $config := omit (include "berth.config" . | fromYaml) "profiles" "percentageOfNodesToScore" }}
{{- merge $config (dict "profiles" $profiles) | toJson }}
{{- end }}

{{/* Refuses values that would render, but not work. */}}
{{- define "berth.validate" -}}
{{- if and (gt (int .Values.replicaCount) 1) (not .Values.leaderElection.enabled) }}
{{- fail (printf "replicaCount is %d, but leaderElection.enabled is false: two active schedulers would give the same room away twice. Enable leader election, or set replicaCount to 1." (int .Values.replicaCount)) }}
{{- end }}
{{- if and (not .Values.leaderElection.enabled) (eq (default "Recreate" .Values.strategy.type) "RollingUpdate") }}
{{- fail "strategy.type is RollingUpdate, but leaderElection.enabled is false: an update would run two active schedulers at a time. Enable leader election, or leave strategy empty." }}
{{- end }}
{{- if hasKey .Values.config "leaderElection" }}
{{- fail "config.leaderElection is set: use the leaderElection values instead, the roles depend on them." }}
{{- end }}
{{- if and .Values.config.profiles .Values.profiles }}
{{- fail "config.profiles and profiles are both set: give one of them." }}
{{- end }}
{{- if and .Values.podDisruptionBudget.enabled (not (kindIs "invalid" .Values.podDisruptionBudget.minAvailable)) (not (kindIs "invalid" .Values.podDisruptionBudget.maxUnavailable)) }}
{{- fail "podDisruptionBudget.minAvailable and podDisruptionBudget.maxUnavailable are both set: give one of them (null unsets a default)." }}
{{- end }}
{{- range $flag, $_ := .Values.extraArgs }}
{{- if or (has $flag (list "config" "secure-port" "logging-format" "v" "feature-gates" "scheduler-profiles" "annotate-decisions")) (hasPrefix "leader-elect" $flag) }}
{{- fail (printf "extraArgs.%s is set: the chart gives this flag itself, from profiles and config, securePort, logging, featureGates, schedulerProfiles, annotateDecisions or leaderElection." $flag) }}
{{- end }}
{{- end }}
{{- $names := splitList ", " (include "berth.schedulerNames" .) }}
{{- if ne (len $names) (len (uniq $names)) }}
{{- fail (printf "two profiles have the same schedulerName (%s): each needs its own." (join ", " $names)) }}
{{- end }}
{{- end }}
