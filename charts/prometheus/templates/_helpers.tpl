{{- define "prometheus.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}
{{- .Release.Name | trunc 52 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "prometheus.version" -}}
{{- .Values.version | default .Chart.AppVersion }}
{{- end }}

{{- define "prometheus.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "prometheus.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{ include "prometheus.selectorLabels" . }}
app.kubernetes.io/version: {{ include "prometheus.version" . | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
