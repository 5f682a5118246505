{{- define "cache.fullname" -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Host and port of the cache, for those who use it. */}}
{{- define "cache.address" -}}
{{ include "cache.fullname" . }}:{{ .Values.port }}
{{- end }}

{{- define "cache.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
