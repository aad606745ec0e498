{{- /* The name of an image by its digest, or, in a chart that was not packed, by its version. */}}
{{- define "statecraft.image" -}}
{{- $digest := index .root.Values.image.digests .name -}}
{{- $registry := .registry | default .root.Values.image.registry -}}
{{- if $digest -}}
{{ $registry }}/{{ .name }}@{{ $digest }}
{{- else -}}
{{ $registry }}/{{ .name }}:{{ .root.Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- /* The name of an image that is part of users' pods. Another name restarts all of them, so it may not depend on the
       version, and can stay where it is when the registry changes. */}}
{{- define "statecraft.podImage" -}}
{{- if and (not (index .root.Values.image.digests .name)) (ne .root.Chart.Version "0.0.0-dev") -}}
{{- fail (printf "image.digests.%s is empty: users' pods name this image by its digest, otherwise every version of the chart restarts them" .name) -}}
{{- end -}}
{{ include "statecraft.image" (dict "root" .root "name" .name "registry" .root.Values.image.podRegistry) }}
{{- end }}

{{- /* Says that an upgrade finds no namespace of this name, or one that is being deleted: a tenant who deletes a namespace must
       not keep the platform team from upgrading. Without a cluster to ask nothing is missing. */}}
{{- define "statecraft.missing" -}}
{{- if and .root.Release.IsUpgrade (lookup "v1" "Namespace" "" "kube-system") -}}
{{- $found := lookup "v1" "Namespace" "" .namespace -}}
{{- if or (not $found) (dig "metadata" "deletionTimestamp" "" $found) -}}true{{- end -}}
{{- end -}}
{{- end }}

{{- /* The areas that are installed, with what the registry of areas says of each. */}}
{{- define "statecraft.areas" -}}
{{- $on := dict -}}
{{- range $name, $area := .Files.Get "files/areas.yaml" | fromYaml -}}
{{- if (index $.Values.areas $name).enabled -}}
{{- $_ := set $on $name $area -}}
{{- end -}}
{{- end -}}
{{ toYaml $on }}
{{- end }}

{{- /* Labels by which the pods of an area's manager are found; they never change. */}}
{{- define "statecraft.selector" -}}
app.kubernetes.io/name: statecraft-{{ . }}
app.kubernetes.io/part-of: statecraft
{{- end }}
