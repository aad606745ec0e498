package spec

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Field is one field that a pod's spec can have, and all that may become of it.
type Field struct {
	Path    string
	Columns []string
}

// Fields lists every field that a pod's spec can have, in the order of Kubernetes' own types. What is never honoured as a
// whole is one field.
func Fields() (fields []Field) {
	table := Table()
	walk(reflect.TypeFor[corev1.PodSpec](), leaf{}, func(path string) {
		f := decided(table, path)
		if !slices.ContainsFunc(fields, func(was Field) bool { return was.Path == f.Path }) {
			fields = append(fields, f)
		}
	})
	return fields
}

// decided is what may become of one field.
func decided(table []Row, path string) Field {
	f, above := Field{Path: path}, ""
	for _, row := range table {
		if !row.covers(path) || row.Field == secondContainer[0].Field {
			continue
		}
		if column := string(row.Column); !slices.Contains(f.Columns, column) {
			f.Columns = append(f.Columns, column)
		}
		if above = row.Field; row.is == nil {
			break
		}
	}
	if len(f.Columns) > 0 && !slices.Contains(f.Columns, string(Honoured)) {
		f.Path = above
	}
	return f
}

// walk visits the path of every field below a type.
func walk(t reflect.Type, at leaf, visit func(path string)) {
	switch t.Kind() {
	case reflect.Pointer:
		walk(t.Elem(), at, visit)
	case reflect.Slice:
		walk(t.Elem(), at.element(0), visit)
	case reflect.Map:
		visit(at.entry("").path())
	case reflect.Struct:
		if t.PkgPath() != corePackage {
			visit(at.path())
			return
		}
		for i := range t.NumField() {
			if name, inline := jsonName(t.Field(i)); inline {
				walk(t.Field(i).Type, at, visit)
			} else {
				walk(t.Field(i).Type, at.below(name), visit)
			}
		}
	default:
		visit(at.path())
	}
}
