package action

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func hashOf(t testing.TB, object map[string]any, paths ...string) string {
	t.Helper()
	var all []Path
	for _, p := range paths {
		all = append(all, ParsePath(p))
	}
	f, err := Read(object, all)
	if err != nil {
		t.Fatal(err)
	}
	return f.Hash
}

func TestFootprints(t *testing.T) {
	for say, c := range map[string]struct {
		a, b  string
		paths []string
		same  bool
	}{
		"a status does not count":        {a: "spec: {replicas: 2}", b: "spec: {replicas: 2}\nstatus: {replicas: 1}", paths: []string{"spec.replicas"}, same: true},
		"metadata does not count":        {a: "spec: {replicas: 2}", b: "spec: {replicas: 2}\nmetadata: {resourceVersion: '7', generation: 4}", paths: []string{"spec.replicas"}, same: true},
		"another field does not count":   {a: "spec: {replicas: 2}", b: "spec: {replicas: 2, paused: true}", paths: []string{"spec.replicas"}, same: true},
		"the order of keys has no part":  {a: "spec: {a: 1, b: 2}", b: "spec: {b: 2, a: 1}", paths: []string{"spec"}, same: true},
		"the order of paths has no part": {a: "{a: 1, b: 2}", b: "{a: 1, b: 2}", paths: []string{"b", "a", "b"}, same: true},
		"a value counts":                 {a: "spec: {replicas: 2}", b: "spec: {replicas: 3}", paths: []string{"spec.replicas"}},
		"a type counts":                  {a: "spec: {x: '2'}", b: "spec: {x: 2}", paths: []string{"spec.x"}},
		"absent is not null":             {a: "spec: {}", b: "spec: {x: null}", paths: []string{"spec.x"}},
		"absent is not empty":            {a: "spec: {}", b: "spec: {x: ''}", paths: []string{"spec.x"}},
		"false is not absent":            {a: "spec: {}", b: "spec: {x: false}", paths: []string{"spec.x"}},
		"the order of a list counts":     {a: "spec: {x: [1, 2]}", b: "spec: {x: [2, 1]}", paths: []string{"spec.x"}},
		"a value is that of its path":    {a: "{a: x}", b: "{b: x}", paths: []string{"a", "b"}},
		"a name may have dots in it":     {a: `data: {"a.b": x}`, b: `data: {"a.b": y}`, paths: []string{`data.a\.b`}},
	} {
		t.Run(say, func(t *testing.T) {
			a, b := hashOf(t, object(t, c.a), c.paths...), hashOf(t, object(t, c.b), c.paths...)
			if (a == b) != c.same {
				t.Errorf("%s\n%s", a, b)
			}
		})
	}
}

// Approvals outlive an upgrade of the manager only while a hash means the same.
func TestAHashStaysWhatItIs(t *testing.T) {
	f, err := Read(object(t, "spec: {replicas: 2, x: <a&b>}"), []Path{{"spec", "x"}, {"spec", "replicas"}, {"spec", "no"}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "0772f5740cc4f3489e4361cc2de04363d2e27374c1d39ff6603b944081b24949"
	if f.Hash != want {
		t.Errorf("hash = %s", f.Hash)
	}
	values := map[string]string{}
	for path, v := range f.Values {
		values[path] = string(v.Raw)
	}
	if diff := cmp.Diff(map[string]string{"spec.replicas": "2", "spec.x": `"<a&b>"`}, values); diff != "" {
		t.Error(diff)
	}
}

func TestAFootprintIsBounded(t *testing.T) {
	_, err := Read(map[string]any{"a": strings.Repeat("x", 16<<10)}, []Path{{"a"}})
	const want = "The fields that the action works on take 16387 bytes, and at most 16384 can be saved to take the action back."
	if say := sayOf(err); say != want {
		t.Error(say)
	}
	paths := make([]Path, 65)
	if _, err = Read(nil, paths); sayOf(err) != "The action works on 65 fields, and 64 are the most." {
		t.Error(err)
	}
}

func TestAPathIsReadAsItIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Path(rapid.SliceOfN(rapid.StringMatching(`[a-z.\\]{0,4}`), 1, 4).Draw(t, "path"))
		if diff := cmp.Diff(p, ParsePath(p.String())); diff != "" {
			t.Error(diff)
		}
	})
}

// Examples of RFC 7386.
func TestApply(t *testing.T) {
	for say, c := range map[string]struct{ is, patch, want string }{
		"a field is replaced":        {`{a: b}`, `{a: c}`, `{a: c}`},
		"a field is added":           {`{a: b}`, `{b: c}`, `{a: b, b: c}`},
		"null removes":               {`{a: b, c: d}`, `{a: null}`, `{c: d}`},
		"a list is replaced":         {`{a: [b]}`, `{a: [c, d]}`, `{a: [c, d]}`},
		"an object replaces a list":  {`{a: [b]}`, `{a: {c: d}}`, `{a: {c: d}}`},
		"a nested null removes":      {`{a: {b: c, d: e}}`, `{a: {b: null}}`, `{a: {d: e}}`},
		"a null within a new object": {`{}`, `{a: {bb: {ccc: null}}}`, `{a: {bb: {}}}`},
		"a null that was there":      {`{e: null}`, `{a: 1}`, `{e: null, a: 1}`},
	} {
		t.Run(say, func(t *testing.T) {
			is, patch := object(t, c.is), object(t, c.patch)
			if diff := cmp.Diff(object(t, c.want), Apply(is, patch)); diff != "" {
				t.Error(diff)
			}
			if cmp.Diff(is, object(t, c.is)) != "" || cmp.Diff(patch, object(t, c.patch)) != "" {
				t.Error("its arguments were changed")
			}
		})
	}
}
