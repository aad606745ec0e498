package action

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// Builtin is an action that the product performs itself.
type Builtin struct {
	Name string
	// Kinds are those that it takes.
	Kinds []remediationv1.TargetKind
	// Parameters are those that it needs. A definition may narrow them.
	Parameters []remediationv1.Parameter
	// Inverse names the builtin that takes it back; empty if none does.
	Inverse string

	// write is how it reaches its target.
	write Write
	// fields are its footprint. Parameters that were not checked name no fields.
	fields func(Params) []Path
	plan   func(subject) (effect, error)
}

// effect is what a builtin does to one target.
type effect struct {
	patch   map[string]any
	grace   *int64 // of a deletion, or of evictions
	fields  []remediationv1.Change
	undo    Params // of the inverse; nil if there is no way back
	caveat  string
	summary string
}

// subject is a target, and how the action is to be done to it.
type subject struct {
	object    map[string]any
	kind      string
	name      string
	params    Params
	execution types.UID
}

// String names the target in a sentence.
func (s subject) String() string { return s.kind + " " + s.name }

func (s subject) text(name string) string {
	out, _ := s.params[name].(string)
	return out
}

// take looks whether the builtin takes a target.
func (b Builtin) take(target map[string]any, p Params, execution types.UID) (subject, error) {
	s := subject{object: target, params: p, execution: execution}
	s.kind, _ = target["kind"].(string)
	version, _ := target["apiVersion"].(string)
	metadata, _ := target["metadata"].(map[string]any)
	s.name, _ = metadata["name"].(string)
	var kinds []string
	taken := false
	for _, k := range b.Kinds {
		kinds = append(kinds, k.Kind)
		taken = taken || k.Kind == s.kind && apiVersion(k) == version
	}
	switch {
	case !taken:
		return s, refuse("Action %s takes %s, and not %s of %s.", b.Name, strings.Join(kinds, ", "), s, version)
	case metadata["deletionTimestamp"] != nil:
		return s, refuse("%s is being deleted.", s)
	}
	return s, nil
}

func apiVersion(k remediationv1.TargetKind) string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// Builtins are all actions that the product performs itself.
func Builtins() []Builtin {
	return []Builtin{
		scale("scale_deployment", deployments),
		scale("scale_statefulset", statefulSets),
		rolloutRestart(),
		updateImage(),
		updateConfigMap(),
		deletePod(),
		cordon("cordon_node", "uncordon_node", true),
		cordon("uncordon_node", "cordon_node", false),
		drainNode(),
	}
}

var (
	deployments  = remediationv1.TargetKind{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}
	statefulSets = remediationv1.TargetKind{Group: "apps", Version: "v1", Kind: "StatefulSet", Resource: "statefulsets"}
	daemonSets   = remediationv1.TargetKind{Group: "apps", Version: "v1", Kind: "DaemonSet", Resource: "daemonsets"}
	configMaps   = remediationv1.TargetKind{Version: "v1", Kind: "ConfigMap", Resource: "configmaps"}
	pods         = remediationv1.TargetKind{Version: "v1", Kind: "Pod", Resource: "pods"}
	nodes        = remediationv1.TargetKind{Version: "v1", Kind: "Node", Resource: "nodes"}
)
