package action

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// dataKey is the form of a key of a ConfigMap. No key has a comma in it, so a list of keys is a
// string with commas.
var dataKey = regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)

func updateConfigMap() Builtin {
	return Builtin{
		Name: "update_configmap", Kinds: []remediationv1.TargetKind{configMaps}, Inverse: "update_configmap", write: PatchTarget,
		Parameters: []remediationv1.Parameter{{
			Name: "data", Description: "Keys to set, and their values. A key that does not exist is added.", Type: remediationv1.TypeObject,
			MaxLength: new(int32(4096)), Pattern: `(?s).*`,
		}, {
			Name: "removeKeys", Description: "Keys to remove, with commas between them.", Type: remediationv1.TypeString,
			MaxLength: new(int32(4096)), Pattern: `[-._a-zA-Z0-9]+(,[-._a-zA-Z0-9]+)*`,
		}},
		fields: func(p Params) (out []Path) {
			for _, key := range slices.Sorted(maps.Keys(wanted(p))) {
				out = append(out, Path{"data", key})
			}
			return out
		},
		plan: planConfigMap,
	}
}

// wanted are the values that keys shall have; nil is that there is no such key.
func wanted(p Params) map[string]any {
	out := map[string]any{}
	if list, _ := p["removeKeys"].(string); list != "" {
		for _, key := range strings.Split(list, ",") {
			out[key] = nil
		}
	}
	data, _ := p["data"].(map[string]string)
	for key, value := range data {
		out[key] = value
	}
	return out
}

func planConfigMap(s subject) (effect, error) {
	want := wanted(s.params)
	if err := s.takes(want); err != nil {
		return effect{}, err
	}
	var fields []remediationv1.Change
	var add, change, remove, gone []string
	old := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		path := Path{"data", key}
		was, is := path.of(s.object)
		if text, _ := was.(string); is {
			old[key] = text
		} else {
			gone = append(gone, key)
		}
		switch to := want[key]; {
		case is && to == was, !is && to == nil:
			continue
		case to == nil:
			remove = append(remove, key)
		case is:
			change = append(change, key)
		default:
			add = append(add, key)
		}
		fields = append(fields, field(path, was, want[key]))
	}
	if len(fields) == 0 {
		return effect{}, refuse("%s is already so: there is nothing to do.", s)
	}
	return effect{
		patch: nest(want, "data"), fields: fields, undo: restore(old, gone),
		summary: fmt.Sprintf("Update %s: %s.", s, strings.Join(slices.Concat(part("add", add), part("change", change), part("remove", remove)), "; ")),
	}, nil
}

// takes refuses keys that a ConfigMap cannot have, and a ConfigMap that cannot be changed.
func (s subject) takes(want map[string]any) error {
	data, _ := s.params["data"].(map[string]string)
	for _, key := range strings.Split(s.text("removeKeys"), ",") {
		if _, both := data[key]; both {
			return refuse("Parameters data and removeKeys both name the key %s.", key)
		}
	}
	if len(want) == 0 {
		return refuse("Action update_configmap needs parameter data, or removeKeys, or both.")
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if !dataKey.MatchString(key) || key == "." || strings.HasPrefix(key, "..") {
			return refuse("%q cannot be a key of a ConfigMap.", cut(key, 64))
		}
		if _, binary := (Path{"binaryData", key}).of(s.object); binary {
			return refuse("Key %s of %s is binary data, which the action does not change.", key, s)
		}
	}
	if immutable := s.object["immutable"]; immutable == true {
		return refuse("%s is immutable.", s)
	}
	return nil
}

// restore are the parameters that give keys their old values, and remove those that were not there.
func restore(old map[string]string, gone []string) Params {
	out := Params{}
	if len(old) > 0 {
		out["data"] = old
	}
	if len(gone) > 0 {
		out["removeKeys"] = strings.Join(gone, ",")
	}
	return out
}

func part(verb string, keys []string) []string {
	if len(keys) == 0 {
		return nil
	}
	return []string{verb + " " + strings.Join(keys, ", ")}
}
