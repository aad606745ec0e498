package plugin

import (
	"fmt"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/statecraft-dev/statecraft/internal/areas"
	"github.com/statecraft-dev/statecraft/internal/explain"
)

// Kind is one that has objects and a machine.
type Kind struct {
	schema.GroupKind
	Area    areas.Area
	Machine areas.Machine
}

// Kinds are those of all areas.
func Kinds() (all []Kind) {
	for _, a := range areas.All() {
		for _, k := range a.Default().Kinds {
			if i := slices.IndexFunc(a.Machines, func(m areas.Machine) bool { return m.Kind == k.Kind }); i >= 0 {
				all = append(all, Kind{GroupKind: k.GroupKind, Area: a, Machine: a.Machines[i]})
			}
		}
	}
	return all
}

// facts are those that do not depend on an object.
func (k Kind) facts() explain.Facts {
	return explain.Facts{Area: k.Area.Name, Kinds: k.Area.KindNames(), Table: k.Machine.Table}
}

// found is an object that was asked for, by its kind and name.
type found struct {
	Kind
	mapping *apimeta.RESTMapping
	name    string
}

// find understands kind/name and kind name, where a kind is named as for kubectl.
func (r *Reader) find(args []string) (found, error) {
	word, name, isPair := strings.Cut(args[0], "/")
	switch {
	case len(args) == 2 && !isPair:
		name = args[1]
	case len(args) != 1 || !isPair:
		return found{}, fmt.Errorf("name an object as kind/name, such as vkc/orders")
	}
	if word == "" || name == "" {
		return found{}, fmt.Errorf("name an object as kind/name, such as vkc/orders")
	}
	kind, err := r.kind(word)
	if err != nil {
		return found{}, err
	}
	mapping, err := r.mapper.RESTMapping(kind.GroupKind)
	if err != nil {
		return found{}, fmt.Errorf("find %s: %w", kind.GroupKind.Kind, err)
	}
	return found{kind, mapping, name}, nil
}

func (r *Reader) kind(word string) (Kind, error) {
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.GroupKind.Kind)
	}
	resource := schema.ParseGroupResource(strings.ToLower(word)).WithVersion("")
	gvk, err := r.mapper.KindFor(resource)
	if apimeta.IsNoMatchError(err) {
		return Kind{}, fmt.Errorf("the cluster has no kind %q; Statecraft has %s", word, strings.Join(names, ", "))
	}
	if err != nil {
		return Kind{}, fmt.Errorf("find kind %q: %w", word, err)
	}
	for _, k := range Kinds() {
		if k.GroupKind == gvk.GroupKind() {
			return k, nil
		}
	}
	return Kind{}, fmt.Errorf("%s is no kind of Statecraft, which has %s", gvk.Kind, strings.Join(names, ", "))
}
