package plugin

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/statecraft-dev/statecraft/internal/explain"
)

// warnings are the events about an object that are some, or why they are not known.
func (r *Reader) warnings(ctx context.Context, obj *unstructured.Unstructured) (all []explain.Event, unseen []string) {
	namespace := cmp.Or(obj.GetNamespace(), metav1.NamespaceDefault)
	of := fields.Set{"involvedObject.uid": string(obj.GetUID()), "type": corev1.EventTypeWarning}
	list, err := r.typed.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: of.String()})
	if err != nil {
		return nil, []string{hidden(err, "events", namespace, ", so warnings are left out")}
	}
	for _, e := range list.Items {
		all = append(all, explain.Event{At: lastSeen(e), Reason: e.Reason, Note: e.Message, Count: count(e)})
	}
	return all, nil
}

func lastSeen(e corev1.Event) metav1.Time {
	switch {
	case e.Series != nil:
		return metav1.NewTime(e.Series.LastObservedTime.Time)
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp
	case !e.EventTime.IsZero():
		return metav1.NewTime(e.EventTime.Time)
	}
	return e.CreationTimestamp
}

func count(e corev1.Event) int32 {
	if e.Series != nil {
		return e.Series.Count
	}
	return e.Count
}
