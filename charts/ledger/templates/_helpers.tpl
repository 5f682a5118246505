{{- define "ledger.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "ledger.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "ledger.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "ledger.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{ include "ledger.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* Variables that tell a container where the database and the cache are. */}}
{{- define "ledger.env" -}}
- name: LEDGER_DATABASE
  value: {{ .Values.database.name | quote }}
- name: LEDGER_USER
  value: {{ .Values.database.user | quote }}
- name: LEDGER_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ include "ledger.fullname" . }}
      key: password
{{- if .Values.cache.enabled }}
- name: LEDGER_CACHE
  value: {{ include "cache.address" .Subcharts.cache | quote }}
{{- end }}
{{- end }}
