{{- define "mesh.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- /* Of one part: plane, relay or stun. Called with a list of the context and the part. */}}
{{- define "mesh.selector" -}}
app.kubernetes.io/name: {{ (index . 0).Chart.Name }}
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "mesh.labels" -}}
{{ include "mesh.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ printf "%s-%s" (index . 0).Chart.Name (index . 0).Chart.Version }}
{{- end }}

{{- define "mesh.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ default (include "mesh.name" .) .Values.serviceAccount.name }}{{ else }}{{ default "default" .Values.serviceAccount.name }}{{ end }}
{{- end }}

{{- define "mesh.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}

{{- /* An address that nodes are given: its own, or a port of `host`. Called with a list of the context, the name and the rest. */}}
{{- define "mesh.address" -}}
{{- $values := (index . 0).Values -}}
{{- $own := index $values.addresses (index . 1) -}}
{{- if regexMatch "[^a-zA-Z0-9.-]" $values.host }}{{ fail "host: a name or an IPv4 address, without a scheme and a port" }}{{ end -}}
{{- if $own }}{{ $own }}{{ else }}{{ index . 2 }}{{ required "host: name or address that nodes reach this installation by" $values.host }}:{{ index . 3 }}{{ end }}
{{- end }}

{{- /* Of all parts: they run as an ordinary user and write nothing but their own folder. Called with a list of the context and the part. */}}
{{- define "mesh.podSpec" -}}
{{- $ := index . 0 -}}
serviceAccountName: {{ include "mesh.serviceAccount" $ }}
automountServiceAccountToken: false
# Kubernetes would add variables MESH_… for each service of the namespace, which no configuration has.
enableServiceLinks: false
{{- with $.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with $.Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with $.Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $.Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with $.Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "mesh.selector" . | nindent 8 }}
{{- end }}

{{- define "mesh.container" -}}
image: {{ include "mesh.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}
