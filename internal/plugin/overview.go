package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/statecraft-dev/statecraft/internal/explain"
)

// page is how many objects are asked for at a time.
const page = 500

// Overview is all objects of a namespace, or of all if it is empty.
func (r *Reader) Overview(ctx context.Context, namespace string) (explain.Overview, error) {
	var o explain.Overview
	var missing []string
	var errs []error
	kinds := Kinds()
	s := survey{r, map[string]elections{}}
	for _, k := range kinds {
		mapping, err := r.mapper.RESTMapping(k.GroupKind)
		if apimeta.IsNoMatchError(err) {
			missing = append(missing, k.GroupKind.Kind)
			continue
		}
		if err != nil {
			return o, fmt.Errorf("find %s: %w", k.GroupKind.Kind, err)
		}
		if namespace != "" && mapping.Scope.Name() == apimeta.RESTScopeNameRoot {
			continue // they belong to no namespace
		}
		objects, err := s.rows(ctx, k, mapping, namespace)
		if err != nil {
			errs = append(errs, err)
			o.Hidden = append(o.Hidden, k.GroupKind.Kind)
			o.Notes = append(o.Notes, hidden(err, mapping.Resource.Resource, namespace, ""))
			continue
		}
		o.Add(k.GroupKind.Kind, objects)
	}
	if len(missing) > 0 {
		o.Notes = append(o.Notes, "These kinds are not installed: "+strings.Join(missing, ", ")+".")
	}
	if len(o.Kinds) == 0 && len(errs) > 0 {
		return o, errors.Join(errs...)
	}
	if len(missing) == len(kinds) {
		return o, errors.New("no kind of Statecraft is installed in this cluster")
	}
	return o, nil
}

// survey looks at the elections of each area once.
type survey struct {
	*Reader
	known map[string]elections // by area
}

// rows are the facts about all objects of a kind, with the election that decides who acts upon each.
func (s survey) rows(ctx context.Context, k Kind, mapping *apimeta.RESTMapping, namespace string) (rows []explain.Facts, err error) {
	options := metav1.ListOptions{Limit: page}
	for {
		list, err := s.objects.Resource(mapping.Resource).Namespace(namespace).List(ctx, options)
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", mapping.Resource.Resource, err)
		}
		for i := range list.Items {
			f, err := k.read(&list.Items[i], s.now())
			if err != nil { // it must not hide the others
				f.Broken = err.Error()
			}
			f.Leader = s.electionsOf(ctx, k).of(&list.Items[i], f.Now)
			rows = append(rows, f)
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return rows, nil
		}
	}
}

func (s survey) electionsOf(ctx context.Context, k Kind) elections {
	e, known := s.known[k.Area.Name]
	if !known {
		e = s.elections(ctx, k.Area)
		s.known[k.Area.Name] = e
	}
	return e
}

// sortByName puts objects in the order in which kubectl shows them.
func sortByName(objects []unstructured.Unstructured) {
	slices.SortFunc(objects, func(a, b unstructured.Unstructured) int { return strings.Compare(a.GetName(), b.GetName()) })
}
