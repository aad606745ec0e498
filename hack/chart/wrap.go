package main

// wrap is what surrounds a manifest in its template, and what is replaced in it.
type wrap struct {
	begin, end string
	namespace  string   // an expression
	replace    []string // what stands in the manifest, and what takes its place
}

// exampleDriver is the driver that the manifests name.
const exampleDriver = "hostpath.csi.k8s.io"

// wraps are those manifests that are not simply switched with their area.
var wraps = map[string]wrap{
	"valkey/secrets-everywhere.yaml": {
		begin: `{{- if and .Values.areas.valkey.enabled (has "*" .Values.areas.valkey.secretsIn) }}`, end: "{{- end }}",
	},
	"capture-restorer/role.yaml": {
		begin: "{{- if and .Values.areas.capture.enabled .Values.areas.capture.restorers }}", end: "{{- end }}",
	},
	"capture-restorer/restorer.yaml": {
		begin: "{{- if .Values.areas.capture.enabled }}\n{{- $namespaces := list }}\n" +
			"{{- range .Values.areas.capture.restorers }}{{ $namespaces = append $namespaces .namespace }}{{ end }}\n" +
			"{{- range $namespace := uniq $namespaces }}\n" +
			`{{- if not (include "statecraft.missing" (dict "root" $ "namespace" $namespace)) }}`,
		end: "{{- end }}\n{{- end }}\n{{- end }}", namespace: "$namespace",
	},
	"capture-restorer/driver.yaml": {
		begin: "{{- if .Values.areas.capture.enabled }}\n{{- range .Values.areas.capture.restorers }}\n" +
			`{{- if not (include "statecraft.missing" (dict "root" $ "namespace" .namespace)) }}`,
		end:       "{{- end }}\n{{- end }}\n{{- end }}",
		namespace: ".namespace", replace: []string{"[" + exampleDriver + "]", "[{{ .driver | quote }}]", exampleDriver, "{{ .driver }}"},
	},
}

// wrapOf is how a manifest is wrapped that is switched by an expression, unless it has a way of its own.
func wrapOf(path, on string) wrap {
	w, special := wraps[path]
	if !special && on != "" {
		w = wrap{begin: "{{- if " + on + " }}", end: "{{- end }}"}
	}
	if w.namespace == "" {
		w.namespace = ".Release.Namespace"
	}
	return w
}
