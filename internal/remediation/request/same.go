package request

import (
	"encoding/json"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// sameSpec compares what is asked for. Parameters are compared by what they mean: a number may be written in several ways.
func sameSpec(a, b remediationv1.KubernetesExecutionSpec) bool {
	if !sameParameters(a.Parameters, b.Parameters) ||
		!sameConditions(a.PreConditions, b.PreConditions) || !sameConditions(a.PostConditions, b.PostConditions) {
		return false
	}
	for _, spec := range []*remediationv1.KubernetesExecutionSpec{&a, &b} {
		spec.Parameters, spec.PreConditions, spec.PostConditions, spec.Cancel = nil, nil, nil, false
	}
	return equality.Semantic.DeepEqual(a, b)
}

func sameConditions(a, b []remediationv1.Condition) bool {
	return slices.EqualFunc(a, b, func(a, b remediationv1.Condition) bool {
		same := sameParameters(a.Parameters, b.Parameters)
		a.Parameters, b.Parameters = nil, nil
		return same && reflect.DeepEqual(a, b)
	})
}

func sameParameters(a, b map[string]apiextensionsv1.JSON) bool {
	if len(a) != len(b) {
		return false
	}
	for name, is := range a {
		other, there := b[name]
		if !there || !sameValue(is, other) {
			return false
		}
	}
	return true
}

func sameValue(a, b apiextensionsv1.JSON) bool {
	var left, right any
	if json.Unmarshal(a.Raw, &left) != nil || json.Unmarshal(b.Raw, &right) != nil {
		return string(a.Raw) == string(b.Raw)
	}
	return reflect.DeepEqual(left, right)
}
