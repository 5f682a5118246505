{{- define "pintle.name" -}}
{{- if contains .Chart.Name .Release.Name }}
{{- .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "pintle.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "pintle.name" .) }}
{{- end }}

{{- define "pintle.selectorLabels" -}}
app.kubernetes.io/name: pintle
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "pintle.labels" -}}
{{ include "pintle.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* What the operator does with its own kinds, wherever they are. */}}
{{- define "pintle.rules.kinds" -}}
- apiGroups: ["charts.pintle.dev"]
  resources: ["webs", "prometheuses", "ledgers", "echoes"]
  verbs: ["get", "list", "watch", "patch"]
- apiGroups: ["charts.pintle.dev"]
  resources: ["webs/status", "prometheuses/status", "ledgers/status", "echoes/status"]
  verbs: ["patch"]
{{/* Owner references that block deletion need this where admission checks it, as on OpenShift. */}}
- apiGroups: ["charts.pintle.dev"]
  resources: ["webs/finalizers", "prometheuses/finalizers", "ledgers/finalizers", "echoes/finalizers"]
  verbs: ["update"]
- apiGroups: ["", "events.k8s.io"]
  resources: ["events"]
  verbs: ["create", "patch"]
{{- end }}

{{/* The namespaced objects that the charts render, hooks among them; and Pods and their Events, which say why a workload is not
ready. */}}
{{- define "pintle.rules.members" -}}
- apiGroups: [""]
  resources: ["pods"]
  verbs: ["list", "watch"]
- apiGroups: [""]
  resources: ["events"]
  verbs: ["list"]
- apiGroups: [""]
  resources: ["configmaps", "secrets", "serviceaccounts", "services"]
  verbs: ["get", "list", "watch", "create", "patch", "delete"]
- apiGroups: ["apps"]
  resources: ["deployments", "statefulsets"]
  verbs: ["get", "list", "watch", "create", "patch", "delete"]
- apiGroups: ["autoscaling"]
  resources: ["horizontalpodautoscalers"]
  verbs: ["get", "list", "watch", "create", "patch", "delete"]
- apiGroups: ["batch"]
  resources: ["cronjobs"]
  verbs: ["get", "list", "watch", "create", "patch", "delete"]
{{/* Hooks and tests are made and deleted, never changed. */}}
- apiGroups: ["batch"]
  resources: ["jobs"]
  verbs: ["get", "list", "watch", "create", "delete"]
- apiGroups: [""]
  resources: ["pods"]
  verbs: ["get", "list", "watch", "create", "delete"]
- apiGroups: ["networking.k8s.io"]
  resources: ["ingresses"]
  verbs: ["get", "list", "watch", "create", "patch", "delete"]
- apiGroups: ["policy"]
  resources: ["poddisruptionbudgets"]
  verbs: ["get", "list", "watch", "create", "patch", "delete"]
{{- end }}

{{/* The cluster-scoped objects that the charts render, and the rights that these roles hand on. */}}
{{- define "pintle.rules.cluster" -}}
- apiGroups: ["rbac.authorization.k8s.io"]
  resources: ["clusterroles", "clusterrolebindings"]
  verbs: ["get", "list", "watch", "create", "patch", "delete"]
- apiGroups: [""]
  resources: ["nodes"]
  verbs: ["get", "list"]
{{- end }}
