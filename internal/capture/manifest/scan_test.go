package manifest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// decoded is a JSON object as the standard library splits it.
func decoded(t testing.TB, raw []byte) (fields map[string]json.RawMessage, err error) {
	t.Helper()
	return fields, json.Unmarshal(raw, &fields)
}

// agrees says that fields are those that the standard library finds: whatever is valid JSON
// must be split the same way.
func agrees(t *testing.T, raw []byte) {
	t.Helper()
	want, err := decoded(t, raw)
	fields, scanned := fieldsOf(raw)
	if err != nil || want == nil {
		return // what is not valid is not promised anything
	}
	if scanned != nil {
		t.Fatalf("%q is refused: %v", raw, scanned)
	}
	for _, f := range fields {
		var name string
		if err := json.Unmarshal([]byte(`"`+f.name+`"`), &name); err != nil {
			t.Fatalf("%q has the name %q: %v", raw, f.name, err)
		}
		if value(fields, f.name) == nil || !json.Valid(f.value) {
			t.Fatalf("%q: field %q is %q", raw, f.name, f.value)
		}
	}
	last := map[string][]byte{}
	for _, f := range fields {
		var name string
		_ = json.Unmarshal([]byte(`"`+f.name+`"`), &name) // looked at above
		last[name] = f.value
	}
	if len(last) != len(want) {
		t.Fatalf("%q has %d fields, want %d", raw, len(last), len(want))
	}
	for name, v := range want {
		if !bytes.Equal(last[name], v) {
			t.Fatalf("%q: field %q is %q, want %q", raw, name, last[name], v)
		}
	}
}

func FuzzFields(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, `{"a":"b\"c","d":[1,{"e":"]"}],"f":{"g":null}}`, ` { "a" : true , "b" : -1.5e3 } `,
		`{"a":"\\"}`, `{"a":"\\\""}`, `{"\u0061":1}`, `[]`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{`, `"`, `{"a":"`, string(listOf(2)),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		agrees(t, raw)
		items, err := itemsOf(raw)
		var want []json.RawMessage
		if json.Unmarshal(raw, &want) == nil && want != nil {
			if err != nil || len(items) != len(want) {
				t.Fatalf("%q has %d items, want %d: %v", raw, len(items), len(want), err)
			}
			for i := range want {
				if !bytes.Equal(items[i], want[i]) {
					t.Fatalf("%q: item %d is %q, want %q", raw, i, items[i], want[i])
				}
			}
		}
		_, _ = ParsePage(raw)
		_, _ = NewIntake(&emptySpec, Plan{}).Take(configMaps, raw)
	})
}

func TestAPageIsSplit(t *testing.T) {
	page, err := ParsePage(listOf(3))
	if err != nil {
		t.Fatal(err)
	}
	if page.ResourceVersion != "7" || len(page.Items) != 3 {
		t.Errorf("%d items at %s", len(page.Items), page.ResourceVersion)
	}
	for what, body := range map[string]string{
		"a list without items":    `{"kind":"List","metadata":{"resourceVersion":"7"}}`,
		"a list with null for it": `{"kind":"List","metadata":{"resourceVersion":"7"},"items":null}`,
	} {
		if page, err := ParsePage([]byte(body)); err != nil || len(page.Items) != 0 || page.ResourceVersion != "7" {
			t.Errorf("%s: %+v %v", what, page, err)
		}
	}
	for what, body := range map[string]string{"half of a list": string(listOf(3)[:200]), "no list": `"items"`, "items that are none": `{"items":{}}`} {
		if _, err := ParsePage([]byte(body)); err == nil {
			t.Errorf("%s is taken for a page", what)
		}
	}
}

// TestWhatIsCopiedIsTheSame holds documents against objects that were decoded whole.
func TestWhatIsCopiedIsTheSame(t *testing.T) {
	page, err := ParsePage(listOf(3))
	if err != nil {
		t.Fatal(err)
	}
	in := NewIntake(&emptySpec, Plan{})
	for _, item := range page.Items {
		document, err := in.Take(configMaps, item)
		if err != nil {
			t.Fatal(err)
		}
		was, is := map[string]any{}, map[string]any{}
		if err := json.Unmarshal(item, &was); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(document, &is); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(was["data"], is["data"]) {
			t.Errorf("data became %v", is["data"])
		}
		if bytes.ContainsRune(document, '\n') {
			t.Error("a document has a line break")
		}
	}
}
