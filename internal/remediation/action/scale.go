package action

import (
	"encoding/json"
	"fmt"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

const maxReplicas = 1000

// scale sets spec.replicas of the object itself: the subresource scale would drop the token.
func scale(name string, kind remediationv1.TargetKind) Builtin {
	replicas := Path{"spec", "replicas"}
	return Builtin{
		Name: name, Kinds: []remediationv1.TargetKind{kind}, Inverse: name, write: PatchTarget,
		Parameters: []remediationv1.Parameter{{
			Name: "replicas", Description: "How many replicas there shall be.", Type: remediationv1.TypeInteger,
			Required: true, Minimum: new(int64(0)), Maximum: new(int64(maxReplicas)),
		}},
		fields: func(Params) []Path { return []Path{replicas} },
		plan: func(s subject) (effect, error) {
			to, _ := s.params["replicas"].(int64)
			value, is := replicas.of(s.object)
			from, whole := number(value)
			switch {
			case !is:
				from = 1 // what the API server takes an absent one for
			case !whole:
				return effect{}, refuse("%s has a number of replicas that is no integer.", s)
			}
			if from == to {
				return effect{}, refuse("%s already has %s: there is nothing to do.", s, counted(to))
			}
			return effect{
				patch:   nest(to, replicas...),
				fields:  []remediationv1.Change{field(replicas, value, to)},
				undo:    Params{"replicas": from},
				summary: fmt.Sprintf("Scale %s from %d to %s.", s, from, counted(to)),
			}, nil
		},
	}
}

func counted(n int64) string {
	if n == 1 {
		return "1 replica"
	}
	return fmt.Sprintf("%d replicas", n)
}

// number reads an integer, whichever way the object was decoded.
func number(value any) (int64, bool) {
	switch v := value.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case float64:
		return int64(v), v == float64(int64(v))
	case json.Number:
		n, err := v.Int64()
		return n, err == nil
	}
	return 0, false
}
