package child

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Field is where in an object something is, as the API server writes it when managers conflict.
type Field = fieldpath.Path

// Differs lists the fields in which live differs from what applying want would set. Fields
// that want does not set are defaults of the server or belong to others: they never differ.
// In an atomic list or map everything is ours, so what is added there differs as well.
func Differs(want, live Object) ([]Field, error) {
	applied, err := Applied(want)
	if err != nil {
		return nil, err
	}
	is, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return nil, fmt.Errorf("convert %T: %w", live, err)
	}
	c := comparison{}
	c.fields(nil, reflect.TypeOf(want), applied.Object, is)
	return c.differing, nil
}

// comparison walks along what is wanted. The Go type says what JSON does not: which strings
// are quantities, and which lists have keys.
type comparison struct{ differing []Field }

func (c *comparison) differs(at Field) { c.differing = append(c.differing, at.Copy()) }

func (c *comparison) value(at Field, t reflect.Type, want, live any) {
	switch w := want.(type) {
	case map[string]any:
		l, there := live.(map[string]any)
		switch {
		case len(w) == 0 && !there && isPointer(t): // emptyDir: {}, in place of which there is something else
			c.differs(at)
		case isAtomic(t):
			c.whole(at, func(inside *comparison) { inside.fields(at, t, w, l) }, isExact(t) && len(l) > len(w))
		default:
			c.fields(at, t, w, l)
		}
	case []any:
		l, _ := live.([]any)
		c.list(at, t, w, l)
	default:
		if !sameScalar(t, want, live) {
			c.differs(at)
		}
	}
}

// fields compares a struct or a map, field by field.
func (c *comparison) fields(at Field, t reflect.Type, want, live map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if isTypeMeta(t, key) {
			continue
		}
		here := append(at[:len(at):len(at)], fieldpath.PathElement{FieldName: &key})
		wanted, is := want[key].(map[string]any)
		theirs, _ := live[key].(map[string]any)
		if is && isAtomicMap(t, key) {
			c.whole(here, func(inside *comparison) { inside.fields(here, nil, wanted, theirs) }, len(theirs) > len(wanted))
			continue
		}
		c.value(here, fieldType(t, key), want[key], live[key])
	}
}

// whole compares what one manager owns as a whole: it is one field.
func (c *comparison) whole(at Field, compare func(*comparison), more bool) {
	inside := comparison{}
	if compare(&inside); more || len(inside.differing) > 0 {
		c.differs(at)
	}
}

func (c *comparison) list(at Field, t reflect.Type, want, live []any) {
	item := itemType(t)
	if keys := keysOf(item); len(keys) > 0 {
		c.keyed(at, item, keys, want, live)
		return
	}
	if isSet(at) {
		for _, wanted := range want {
			if !slices.Contains(live, wanted) {
				c.differs(at)
			}
		}
		return
	}
	c.whole(at, func(inside *comparison) {
		for i := range min(len(want), len(live)) {
			inside.value(append(at[:len(at):len(at)], fieldpath.PathElement{Index: &i}), item, want[i], live[i])
		}
	}, len(want) != len(live))
}

// keyed compares each wanted item with the live one that has the same keys; their order is
// not ours.
func (c *comparison) keyed(at Field, item reflect.Type, keys []string, want, live []any) {
	for _, wanted := range want {
		w, is := wanted.(map[string]any)
		if !is {
			continue
		}
		key := keyOf(w, keys)
		here := append(at[:len(at):len(at)], fieldpath.PathElement{Key: &key})
		i := slices.IndexFunc(live, func(l any) bool {
			l2, is := l.(map[string]any)
			if !is {
				return false
			}
			there := keyOf(l2, keys)
			return key.Equals(there)
		})
		if i < 0 {
			c.differs(here)
			continue
		}
		c.value(here, item, w, live[i])
	}
}

var quantity = reflect.TypeFor[resource.Quantity]()

// sameScalar compares values that have several spellings by what they mean.
func sameScalar(t reflect.Type, want, live any) bool {
	if want == live {
		return true
	}
	if deref(t) == quantity && live != nil {
		w, err := resource.ParseQuantity(fmt.Sprint(want))
		l, err2 := resource.ParseQuantity(fmt.Sprint(live))
		return err == nil && err2 == nil && w.Cmp(l) == 0
	}
	w, isNumber := number(want)
	l, isToo := number(live)
	return isNumber && isToo && w == l
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// Names are fields as people read them.
func Names(fields []Field) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.String()
	}
	return strings.Join(names, ", ")
}
