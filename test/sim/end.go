package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// everywhere is what the cluster puts into every namespace.
const everywhere = "kube-root-ca.crt"

// survey reads all that exists of the story.
func (r *run) survey(ctx context.Context) (found []*unstructured.Unstructured, err error) {
	for _, kind := range r.lab.subject.Kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := r.lab.admin.List(ctx, list, client.InNamespace(r.world.Namespace)); err != nil {
			return nil, fmt.Errorf("list %s: %w", kind.Kind, err)
		}
		for i := range list.Items {
			if list.Items[i].GetName() != everywhere {
				found = append(found, &list.Items[i])
			}
		}
	}
	r.mu.Lock()
	elsewhere := r.record.outside(r.world.Namespace)
	r.mu.Unlock()
	for _, ref := range elsewhere {
		obj := &unstructured.Unstructured{}
		obj.SetGroupVersionKind(ref.GroupVersionKind)
		switch err := r.lab.admin.Get(ctx, ref.Key, obj); {
		case err == nil:
			found = append(found, obj)
		case !apierrors.IsNotFound(err):
			return nil, fmt.Errorf("read %s %s: %w", ref.Kind, ref.Key, err)
		}
	}
	return found, nil
}

var (
	anyTime = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z`)
	anyUID  = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
)

// state is what exists, by name, without what may differ between two plans.
func (r *run) state(found []*unstructured.Unstructured) (map[string]string, error) {
	state := map[string]string{}
	for _, obj := range found {
		obj = obj.DeepCopy()
		for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} {
			unstructured.RemoveNestedField(obj.Object, "metadata", field)
		}
		for _, tale := range []string{"history", "proofs"} { // of the way that led there
			unstructured.RemoveNestedField(obj.Object, "status", tale)
		}
		if r.play.Equal != nil {
			r.play.Equal(obj)
		}
		if len(obj.Object) == 0 {
			continue
		}
		content, err := json.Marshal(obj.Object)
		if err != nil {
			return nil, fmt.Errorf("print %s: %w", obj.GetName(), err)
		}
		// Names are replaced before lines are broken, which depends on how long they are.
		text, err := yaml.JSONToYAML([]byte(r.plain(string(content))))
		if err != nil {
			return nil, fmt.Errorf("print %s: %w", obj.GetName(), err)
		}
		state[r.plain(obj.GetKind()+" "+obj.GetName())] = string(text)
	}
	return state, nil
}

// plain replaces names of the plan, UIDs and times.
func (r *run) plain(text string) string {
	text = strings.ReplaceAll(text, r.world.Namespace, "PLAN")
	text = anyTime.ReplaceAllString(text, "TIME")
	return anyUID.ReplaceAllString(text, "UID")
}

// counted is how many children of each role were made and removed.
func (r *run) tallies() map[string]int {
	counts := map[string]int{}
	for what, which := range r.counts {
		counts[what] = len(which)
	}
	return counts
}

// differ says in words how one map differs from another.
func differ[V comparable](is, want map[string]V) string {
	var words []string
	all := maps.Clone(is)
	maps.Copy(all, want)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		a, has := is[name]
		b, wanted := want[name]
		switch {
		case !wanted:
			words = append(words, name+" is there: "+lines(a, nil))
		case !has:
			words = append(words, name+" is missing: "+lines(b, nil))
		case a != b:
			words = append(words, name+" is "+lines(a, b)+", not "+lines(b, a))
		}
	}
	return strings.Join(words, "\n")
}

// lines is a value, or of a text the lines that another has not, or not as often.
func lines(value, other any) string {
	text, is := value.(string)
	if !is {
		return fmt.Sprint(value)
	}
	has := map[string]int{} // how often: objects in a list have the same lines
	if other, is := other.(string); is {
		for line := range strings.Lines(other) {
			has[line]++
		}
	}
	var kept []string
	for line := range strings.Lines(text) {
		if has[line]--; has[line] < 0 {
			kept = append(kept, strings.TrimSpace(line))
		}
	}
	return "[" + strings.Join(kept, "; ") + "]"
}
