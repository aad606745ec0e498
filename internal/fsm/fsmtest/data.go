package fsmtest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
)

// saved is obj as it would come back from the API server.
func saved[T any](obj T) (T, error) {
	var back T
	err := json.Unmarshal([]byte(text(obj)), &back)
	if err == nil && !equality.Semantic.DeepEqual(obj, back) {
		err = fmt.Errorf("status changes when saved: %s, then %s", text(obj), text(back))
	}
	return back, err
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a World or an object that is not data
	}
	return string(b)
}

// merge applies a JSON merge patch to v: lists are replaced, null removes. A field
// that does not exist is an error, or a slip of the pen would test nothing.
func merge[V any](v *V, patch string) error {
	var merged V
	var base, change map[string]any
	if err := json.Unmarshal([]byte(text(*v)), &base); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(patch), &change); err != nil {
		return err
	}
	strict := json.NewDecoder(bytes.NewBufferString(text(overlay(base, change))))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&merged); err != nil {
		return err
	}
	*v = merged
	return nil
}

func overlay(base, change map[string]any) map[string]any {
	if base == nil {
		base = map[string]any{}
	}
	for key, value := range change {
		inner, nested := value.(map[string]any)
		switch {
		case value == nil:
			delete(base, key)
		case nested:
			under, _ := base[key].(map[string]any)
			base[key] = overlay(under, inner)
		default:
			base[key] = value
		}
	}
	return base
}
