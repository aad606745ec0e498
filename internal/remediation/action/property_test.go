package action

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// aTarget draws an object of a kind, with noise around the fields that actions work on.
func aTarget(t *rapid.T, k remediationv1.TargetKind) map[string]any {
	noise := rapid.MapOf(rapid.StringMatching(`[a-z]{1,5}`), rapid.StringN(0, 8, -1))
	out := map[string]any{
		"apiVersion": apiVersion(k), "kind": k.Kind, "status": texts(noise.Draw(t, "status")),
		"metadata": map[string]any{
			"name": "x", "uid": "u1", "resourceVersion": rapid.StringMatching(`[1-9][0-9]{0,5}`).Draw(t, "version"),
			"annotations": texts(noise.Draw(t, "annotations")), "labels": texts(noise.Draw(t, "labels")),
		},
	}
	switch k.Kind {
	case "ConfigMap":
		out["data"] = texts(rapid.MapOf(aKey, rapid.StringMatching(`[^\x00]{0,20}`)).Draw(t, "data"))
	case "Node":
		spec := map[string]any{"podCIDR": "10.0.0.0/24"}
		if rapid.Bool().Draw(t, "cordoned") {
			spec["unschedulable"] = true
		}
		out["spec"] = spec
	case "Pod":
		out["spec"] = aPod(t)
		if rapid.Bool().Draw(t, "owned") {
			out["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"kind": "ReplicaSet", "name": "web", "uid": "r1", "controller": true}}
		}
	default:
		out["spec"] = map[string]any{
			"replicas": rapid.Int64Range(0, 1000).Draw(t, "replicas"), "minReadySeconds": int64(3),
			"template": map[string]any{"metadata": map[string]any{"labels": texts(noise.Draw(t, "pod"))}, "spec": aPod(t)},
		}
	}
	return out
}

var aKey = rapid.StringMatching(`[a-d][-._]?[a-c]`)

func aPod(t *rapid.T) map[string]any {
	container := func(name string) any {
		return map[string]any{
			"name": name, "image": rapid.SampledFrom([]string{"web:1", "web:2"}).Draw(t, name),
			"env": []any{map[string]any{"name": "A", "value": rapid.StringN(0, 5, -1).Draw(t, "env")}}, "resources": map[string]any{},
		}
	}
	return map[string]any{"containers": []any{container("a"), container("b")}, "initContainers": []any{container("c")}, "nodeName": "x"}
}

func texts(in map[string]string) map[string]any {
	out := map[string]any{}
	for k, v := range in {
		out[k] = v
	}
	return out
}

func someParams(t *rapid.T, builtin string) Params {
	switch builtin {
	case "scale_deployment", "scale_statefulset":
		return Params{"replicas": rapid.Int64Range(0, 1000).Draw(t, "to")}
	case "update_image":
		return Params{"container": rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "container"), "image": "web:2"}
	case "drain_node":
		return Params{"force": rapid.Bool().Draw(t, "force")}
	case "delete_pod":
		if rapid.Bool().Draw(t, "hurried") {
			return Params{"gracePeriodSeconds": rapid.Int64Range(0, 3600).Draw(t, "grace")}
		}
	case "update_configmap":
		p := Params{"data": rapid.MapOfN(aKey, rapid.StringMatching(`(?s).{0,9}`), 0, 4).Draw(t, "set")}
		if key := rapid.StringMatching(`[a-d][-._]?[a-c](,[a-d][-._]?[a-c])?`).Draw(t, "remove"); rapid.Bool().Draw(t, "removes") {
			p["removeKeys"] = key
		}
		return p
	}
	return Params{}
}

// planned draws a plan that is not refused.
func planned(t *rapid.T) (b Builtin, target map[string]any, p Params, c Change) {
	b = rapid.SampledFrom(Builtins()).Draw(t, "builtin")
	target = aTarget(t, rapid.SampledFrom(b.Kinds).Draw(t, "kind"))
	p = someParams(t, b.Name)
	c, err := Plan(b.Name, target, p, execution)
	if r := (*Refusal)(nil); err != nil {
		if !errors.As(err, &r) || r.Say == "" {
			t.Fatalf("no refusal: %v", err)
		}
		t.Skip("refused: ", r.Say) // of rapid: it draws another, and fails if too few are not refused
	}
	return b, target, p, c
}

// What takes an action back restores the hash of what the action worked on, whatever else happens to
// the object.
func TestAnInverseRestoresTheFootprint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, target, p, c := planned(t)
		if b.Inverse == "" {
			if c.Inverse != nil || c.Caveat == "" {
				t.Fatalf("inverse %v, caveat %q", c.Inverse, c.Caveat)
			}
			return
		}
		if c.Write == DrainTarget && c.Before.Hash == c.After.Hash && c.Inverse == nil {
			return // the node was cordoned before
		}
		if c.Inverse == nil {
			t.Fatalf("no inverse: %s", c.Caveat)
		}
		changed := written(t, Apply(target, c.Patch))
		changed["status"] = map[string]any{"another": "one"}
		back, err := find(c.Inverse.Action)
		if err != nil {
			t.Fatal(err)
		}
		params, err := Check(back.Parameters, c.Inverse.Parameters)
		if err != nil {
			t.Fatal(err)
		}
		undo, err := Plan(c.Inverse.Action, changed, params, "another")
		if err != nil {
			t.Fatal(err)
		}
		restored := written(t, Apply(changed, undo.Patch))
		after, err := ReadOf(b.Name, restored, p)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.Before, after); diff != "" {
			t.Error(diff)
		}
		if left, err := ReadOf(c.Inverse.Action, restored, params); err != nil || left.Hash != undo.After.Hash {
			t.Errorf("%v: the inverse does not leave what it planned", err)
		}
	})
}

// written is an object as an API server hands it out: decoded anew, without empty maps of data.
func written(t *rapid.T, object map[string]any) map[string]any {
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	if data, _ := out["data"].(map[string]any); len(data) == 0 {
		delete(out, "data")
	}
	return out
}

// The footprint of a plan covers all that its patch changes, so an approval covers it, too.
func TestAPatchChangesNothingButItsFootprintAndTheToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, target, p, c := planned(t)
		if c.Write == DeleteTarget {
			if c.Patch != nil || c.After.Hash != "" || c.Before.Hash == "" {
				t.Errorf("a deletion has a patch %v, before %q, after %q", c.Patch, c.Before.Hash, c.After.Hash)
			}
			return
		}
		patch := Preconditioned(WithToken(c.Patch, execution, Done), "u1", "7")
		changed := Apply(target, patch)
		if ReadToken(changed, execution) != Done {
			t.Error("the target does not bear the token")
		}
		if f, err := ReadOf(b.Name, changed, p); err != nil || f.Hash != c.After.Hash || f.Hash == c.Before.Hash && c.Write != DrainTarget {
			t.Errorf("%v: %s became %s, planned %s", err, c.Before.Hash, f.Hash, c.After.Hash)
		}
		want, got := written(t, target), written(t, changed)
		for _, object := range []map[string]any{want, got} {
			metadata := object["metadata"].(map[string]any)
			delete(metadata, "resourceVersion")
			delete(metadata["annotations"].(map[string]any), remediationv1.TokenAnnotation)
			for _, path := range b.fields(p) {
				remove(object, path)
			}
			if data, _ := object["data"].(map[string]any); len(data) == 0 {
				delete(object, "data")
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func remove(object map[string]any, path Path) {
	for _, name := range path[:len(path)-1] {
		object, _ = object[name].(map[string]any)
	}
	delete(object, path[len(path)-1])
}

// Nothing in a plan changes with what is none of its business: status, other annotations, versions,
// and how often it is made.
func TestAPlanIsAFunctionOfItsFootprint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, target, p, c := planned(t)
		before := fmt.Sprint(target)
		noisy := written(t, target)
		noisy["status"] = map[string]any{"replicas": 9}
		metadata := noisy["metadata"].(map[string]any)
		metadata["resourceVersion"], metadata["generation"] = "99", 4
		metadata["annotations"], metadata["managedFields"] = map[string]any{"b": "c"}, []any{map[string]any{"manager": "x"}}
		again, err := Plan(b.Name, noisy, p, execution)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(canonical(c)), string(canonical(again))); diff != "" {
			t.Error(diff)
		}
		if fmt.Sprint(target) != before {
			t.Error("the plan changed its target")
		}
		scribble(c.Patch)
		if fmt.Sprint(target) != before {
			t.Error("the patch shares what is in the target")
		}
	})
}

// scribble writes into everything that a value shares.
func scribble(value any) {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			scribble(v[name])
		}
		if v != nil {
			v["scribbled"] = true
		}
	case []any:
		for i := range v {
			scribble(v[i])
		}
	}
}
