package spec

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// leaf is one field of a pod's spec that is set.
type leaf struct {
	names []string // containers[], ports[], hostPort
	found []string // containers[0], ports[1], hostPort
	index []int    // 0, 1
	key   string   // of a map
	value reflect.Value
	empty bool // a struct that is there, and has nothing set
}

func (l leaf) path() string { return strings.Join(l.names, ".") }

// at is the field in the pod, for people: as far as a row goes that stands for it.
func (l leaf) at(depth int) string { return strings.Join(l.found[:depth], ".") }

// text is the value of a scalar.
func (l leaf) text() string {
	if !l.value.IsValid() || l.value.Kind() == reflect.Struct {
		return ""
	}
	return fmt.Sprint(l.value.Interface())
}

func (l leaf) below(name string) leaf {
	l.names = append(slices.Clip(l.names), name)
	l.found = append(slices.Clip(l.found), name)
	return l
}

func (l leaf) element(i int) leaf {
	last := len(l.names) - 1
	l.names, l.found = slices.Clone(l.names), slices.Clone(l.found)
	l.names[last] += "[]"
	l.found[last] += fmt.Sprintf("[%d]", i)
	l.index = append(slices.Clip(l.index), i)
	return l
}

func (l leaf) entry(key string) leaf {
	last := len(l.names) - 1
	l.names, l.found = slices.Clone(l.names), slices.Clone(l.found)
	l.names[last] += "{}"
	l.found[last] += "[" + key + "]"
	l.key = key
	return l
}

// corePackage is where the types are that leaves go down into: others, such as a quantity, are one value.
var corePackage = reflect.TypeFor[corev1.PodSpec]().PkgPath()

// set lists every field below v that is set. A pointer is set even if it leads to nothing: false is a wish, too.
func set(v reflect.Value, at leaf, found func(leaf)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			setBelowPointer(v.Elem(), at, found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			setBelowPointer(v.Index(i), at.element(i), found)
		}
	case reflect.Map:
		keys := map[string]reflect.Value{}
		for _, k := range v.MapKeys() {
			keys[k.String()] = v.MapIndex(k)
		}
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			next := at.entry(k)
			next.value = keys[k]
			found(next)
		}
	case reflect.Struct:
		if v.Type().PkgPath() == corePackage {
			setBelow(v, at, found)
			return
		}
		fallthrough
	default:
		if at.value = v; !v.IsZero() {
			found(at)
		}
	}
}

// setBelowPointer is set for what is there whatever its value: behind a pointer, or in a list.
func setBelowPointer(v reflect.Value, at leaf, found func(leaf)) {
	some := false
	set(v, at, func(l leaf) { some = true; found(l) })
	if !some {
		at.value, at.empty = v, v.Kind() == reflect.Struct
		found(at)
	}
}

func setBelow(v reflect.Value, at leaf, found func(leaf)) {
	for i := range v.NumField() {
		name, inline := jsonName(v.Type().Field(i))
		if inline {
			set(v.Field(i), at, found)
			continue
		}
		set(v.Field(i), at.below(name), found)
	}
}

// jsonName is what users call a field, and whether those below it are named as if they were beside it.
func jsonName(f reflect.StructField) (name string, inline bool) {
	name, _, _ = strings.Cut(f.Tag.Get("json"), ",")
	return name, name == ""
}

// leavesOf lists what a pod asks for.
func leavesOf(pod *corev1.PodSpec) (leaves []leaf) {
	set(reflect.ValueOf(*pod), leaf{}, func(l leaf) { leaves = append(leaves, l) })
	return leaves
}
