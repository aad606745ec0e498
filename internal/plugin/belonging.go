package plugin

import (
	"slices"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/statecraft-dev/statecraft/internal/explain"
	"github.com/statecraft-dev/statecraft/internal/podstate/diagnosis"
)

// bare is an object of which only metadata is known.
func bare(m *metav1.PartialObjectMetadata, gvk schema.GroupVersionKind) unstructured.Unstructured {
	u := unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	u.SetName(m.Name)
	u.SetNamespace(m.Namespace)
	u.SetUID(m.UID)
	u.SetLabels(m.Labels)
	u.SetOwnerReferences(m.OwnerReferences)
	return u
}

// belonging are the objects that obj owns, directly or through others, or that bear its name.
func belonging(obj *unstructured.Unstructured, label string, listed []unstructured.Unstructured) (all []unstructured.Unstructured) {
	owners := map[types.UID]bool{obj.GetUID(): true}
	owned := func(u unstructured.Unstructured) bool {
		return slices.ContainsFunc(u.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return owners[o.UID] })
	}
	for grows := true; grows; {
		grows = false
		for _, u := range listed {
			if owned(u) && !owners[u.GetUID()] {
				owners[u.GetUID()], grows = true, true
			}
		}
	}
	for _, u := range listed {
		if owned(u) || label != "" && u.GetLabels()[label] == obj.GetName() && u.GetUID() != obj.GetUID() {
			all = append(all, u)
		}
	}
	return all
}

// describe says how a child is: pods in the words of our own, others as kstatus has them.
func describe(u unstructured.Unstructured) explain.Child {
	c := explain.Child{Kind: u.GetKind(), Name: u.GetName()}
	if u.GetKind() == "Pod" {
		pod := &corev1.Pod{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, pod); err == nil {
			c.Ready, c.Why = podReady(pod), diagnosis.Of(pod).Words
			return c
		}
	}
	result, err := status.Compute(&u)
	switch {
	case err != nil:
		c.Ready = "unknown"
	case result.Status == status.CurrentStatus:
		c.Ready = yes(true)
	default:
		c.Ready, c.Why = yes(false), result.Message
	}
	return c
}

func podReady(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return yes(c.Status == corev1.ConditionTrue)
		}
	}
	return yes(false)
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
