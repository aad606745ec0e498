package fleet

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func value(t interface{ Fatal(...any) }, raw []byte) map[string]any {
	v, ok := meaning(raw)
	m, is := v.(map[string]any)
	if !ok || !is {
		t.Fatal("no object:", string(raw))
	}
	return m
}

// One edit of a device as Flight Control writes it.
func TestADeviceIsEdited(t *testing.T) {
	document := read(t, "device.json")
	app, nudge := json.RawMessage(`{"name":"sc-0a1b2c3d-new","appType":"compose"}`), json.RawMessage(`{"name":"sc-0a1b2c3d-nudge","inline":[]}`)
	edited, changes, err := Edit{
		Applications: map[string]json.RawMessage{"sc-0a1b2c3d-new": app}, Config: map[string]json.RawMessage{"sc-0a1b2c3d-nudge": nudge}, Remove: []string{ours, "absent"},
	}.Apply(document)
	if err != nil || !changes {
		t.Fatal(changes, err)
	}
	was, is := value(t, document), value(t, edited)
	delete(was, "status")
	spec := was["spec"].(map[string]any)
	applications, config := spec["applications"].([]any), spec["config"].([]any)
	spec["applications"] = []any{applications[1], applications[2], value(t, app)}
	spec["config"] = []any{config[0], config[2], value(t, nudge)}
	if diff := cmp.Diff(was, is); diff != "" {
		t.Errorf("device (-want +got):\n%s", diff)
	}
	if d, err := DecodeDevice(edited); err != nil || d.ResourceVersion != "91" {
		t.Errorf("the version that was read is no precondition: %+v, %v", d, err)
	}
	if again, changes, err := (Edit{Applications: map[string]json.RawMessage{"sc-0a1b2c3d-new": app}, Remove: []string{ours}}).Apply(edited); err != nil || changes || cmp.Diff(value(t, edited), value(t, again)) != "" {
		t.Errorf("it changes again: %t, %v", changes, err)
	}
}

func TestAnEditKeepsItsPlace(t *testing.T) {
	raw := []byte(`{"metadata":{"name":"a"},"spec":{"applications":[{"name":"x"},{"name":"sc-1","image":"old","n":1},{"name":"y"}]}}`)
	edited, changes, err := Edit{Applications: map[string]json.RawMessage{"sc-1": json.RawMessage(`{"name":"sc-1","image":"new"}`)}}.Apply(raw)
	d, _ := DecodeDevice(edited)
	if err != nil || !changes || len(d.Applications) != 3 || string(d.Applications[1].Raw) != `{"name":"sc-1","image":"new"}` {
		t.Errorf("%t, %v, %s", changes, err, edited)
	}
	// What means the same is no change, however it is written.
	if _, changes, _ := (Edit{Applications: map[string]json.RawMessage{"sc-1": json.RawMessage(`{ "n":1, "image":"old", "name":"sc-1" }`)}}).Apply(raw); changes {
		t.Error("other words for the same are a change")
	}
	if _, changes, _ := (Edit{Applications: map[string]json.RawMessage{"sc-1": json.RawMessage(`{ "n":1.0, "image":"old", "name":"sc-1" }`)}}).Apply(raw); !changes {
		t.Error("a number that is written otherwise is none")
	}
}

func TestAListThatIsEmptyGoes(t *testing.T) {
	edited, changes, err := Edit{Remove: []string{"sc-1"}}.Apply([]byte(`{"metadata":{"name":"a"},"spec":{"applications":[{"name":"sc-1"}],"os":{}}}`))
	if err != nil || !changes || string(edited) != `{"metadata":{"name":"a"},"spec":{"os":{}}}` {
		t.Errorf("%t, %v, %s", changes, err, edited)
	}
	if _, _, err := (Edit{}).Apply([]byte(`{"spec":{"applications":5}}`)); err == nil {
		t.Error("what is not understood is edited")
	}
	for _, text := range []string{``, `null`, `{"spec":null}`, `{"spec":{"config":null}}`} {
		if _, changes, err := (Edit{Remove: []string{"a"}}).Apply([]byte(text)); err != nil || changes {
			t.Errorf("%q: %t, %v", text, changes, err)
		}
	}
}

// anyJSON is some value, with numbers as they are written.
func anyJSON(depth int) *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		switch kind := rapid.IntRange(0, 6).Draw(t, "kind"); {
		case kind == 0:
			return json.RawMessage(rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "word"))
		case kind == 1:
			return json.RawMessage(rapid.SampledFrom([]string{"0", "-1", "2.50", "1e3", "12345678901234567890"}).Draw(t, "number"))
		case kind <= 3 || depth == 0:
			text, _ := json.Marshal(rapid.String().Draw(t, "text"))
			return text
		case kind == 4:
			list, _ := json.Marshal(rapid.SliceOfN(anyJSON(depth-1), 0, 3).Draw(t, "list"))
			return list
		}
		object, _ := json.Marshal(rapid.MapOfN(rapid.String(), anyJSON(depth-1), 0, 3).Draw(t, "object"))
		return object
	})
}

// entryOf is an entry of a list: one of a person, one of ours, one without a name, or something else altogether.
func entryOf(name *rapid.Generator[string]) *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		if rapid.IntRange(0, 5).Draw(t, "odd") == 0 {
			return anyJSON(1).Draw(t, "something else")
		}
		fields := rapid.MapOfN(rapid.String(), anyJSON(1), 0, 3).Draw(t, "fields")
		delete(fields, "name")
		if text, _ := json.Marshal(name.Draw(t, "name")); rapid.IntRange(0, 5).Draw(t, "named") > 0 {
			fields["name"] = text
		}
		raw, _ := json.Marshal(fields)
		return raw
	})
}

// Whatever a device has: entries of others and fields that are not known survive, in their order and with their meaning; what
// is put is there once, and what is removed is not.
func TestNothingOfOthersIsLost(t *testing.T) {
	mine := []string{"sc-0a1b2c3d-1", "sc-0a1b2c3d-2", "sc-0a1b2c3d-nudge"}
	names := rapid.SampledFrom(append([]string{"", "a", "b", "sc-ffffffff-1", "sc-0a1b2c3d"}, mine...))
	rapid.Check(t, func(t *rapid.T) {
		spec := rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), anyJSON(2), 0, 4).Draw(t, "spec")
		for _, field := range []string{"applications", "config"} {
			if rapid.Bool().Draw(t, field) {
				spec[field], _ = json.Marshal(rapid.SliceOfN(entryOf(names), 0, 5).Draw(t, "entries"))
			}
		}
		root := rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), anyJSON(2), 0, 3).Draw(t, "root")
		root["metadata"] = json.RawMessage(`{"name":"a","resourceVersion":"7"}`)
		root["spec"], _ = json.Marshal(spec)
		document, _ := json.Marshal(root)
		e := Edit{Applications: puts(t, mine), Config: puts(t, mine), Remove: rapid.SliceOf(rapid.SampledFrom(mine)).Draw(t, "remove")}
		edited, changes, err := e.Apply(document)
		if err != nil {
			t.Fatal(err)
		}
		was, is := value(t, document), value(t, edited)
		for field, put := range map[string]map[string]json.RawMessage{"applications": e.Applications, "config": e.Config} {
			compareLists(t, e.Remove, put, entriesIn(was, field), entriesIn(is, field))
		}
		wasSpec, isSpec := was["spec"].(map[string]any), is["spec"].(map[string]any)
		for _, s := range []map[string]any{wasSpec, isSpec} {
			delete(s, "applications")
			delete(s, "config")
		}
		if diff := cmp.Diff(was, is); diff != "" {
			t.Fatalf("of others (-was +is):\n%s", diff)
		}
		if again, changesAgain, err := e.Apply(edited); err != nil || changesAgain || cmp.Diff(value(t, edited), value(t, again)) != "" {
			t.Fatalf("the same edit twice is another: %v, %t after %t", err, changesAgain, changes)
		}
	})
}

func puts(t *rapid.T, mine []string) map[string]json.RawMessage {
	put := map[string]json.RawMessage{}
	for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(mine), rapid.ID).Draw(t, "put") {
		put[name] = json.RawMessage(fmt.Sprintf(`{"name":%q,"v":%d}`, name, rapid.IntRange(0, 1).Draw(t, "version")))
	}
	return put
}

func entriesIn(of map[string]any, field string) []any {
	list, _ := of["spec"].(map[string]any)[field].([]any)
	return list
}

func compareLists(t *rapid.T, remove []string, put map[string]json.RawMessage, was, is []any) {
	named := func(v any) string {
		m, _ := v.(map[string]any)
		name, _ := m["name"].(string)
		return name
	}
	touched := func(v any) bool {
		name := named(v)
		_, puts := put[name]
		return puts || name != "" && slices.Contains(remove, name)
	}
	before, after := slices.DeleteFunc(slices.Clone(was), touched), slices.DeleteFunc(slices.Clone(is), touched)
	if diff := cmp.Diff(before, after); diff != "" && len(before)+len(after) > 0 {
		t.Fatalf("of others (-was +is):\n%s", diff)
	}
	there := map[string]int{}
	for _, v := range is {
		if name := named(v); touched(v) {
			if there[name]++; cmp.Diff(any(value(t, put[name])), v) != "" {
				t.Fatalf("%s: %v is there", name, v)
			}
		}
	}
	for name := range maps.Keys(put) {
		if there[name] != 1 {
			t.Fatalf("%s is there %d times", name, there[name])
		}
	}
}
