package spec

import (
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
)

// AppliedAnnotation bears the hash of what a child was built as. A child that
// bears another is to be applied again.
const AppliedAnnotation = "valkey.statecraft.dev/applied"

// Stamp is that annotation.
const Stamp child.Stamp = AppliedAnnotation

// AppliedBeforeAnnotation bears what AppliedAnnotation was before an upgrade came: what
// goes back to its former template goes back to that stamp as well. Without it a cluster
// whose upgrade went back would look as if its spec had been edited.
const AppliedBeforeAnnotation = "valkey.statecraft.dev/applied-before"

// ImageAnnotation bears what spec.image was when the template of a shard was last written: an
// upgrade may have brought it to another image since, and that is no edit. ImageBeforeAnnotation
// is to it what AppliedBeforeAnnotation is to the stamp.
const (
	ImageAnnotation       = "valkey.statecraft.dev/spec-image"
	ImageBeforeAnnotation = "valkey.statecraft.dev/spec-image-before"
)

// Object is a child.
type Object = child.Object

// KindOf names the kind of a child.
func KindOf(obj Object) string {
	switch obj.(type) {
	case *corev1.Service:
		return "Service"
	case *corev1.ConfigMap:
		return "ConfigMap"
	case *policyv1.PodDisruptionBudget:
		return "PodDisruptionBudget"
	case *appsv1.StatefulSet:
		return "StatefulSet"
	}
	return fmt.Sprintf("%T", obj)
}

// stamp lets a child bear the hash of what it is built as, whichever release of the
// node program is in it, and whatever the size of its volumes: neither is a reason to restart servers.
func stamp(obj Object) { Stamp.Put(obj, anyNodeProgram(obj)) }

// Kept is what is kept of a child as it is built, outside upgrades: a budget that was closed
// stays closed, and of a StatefulSet neither the template nor what it bears of that, which is
// a matter of its last upgrade.
func Kept(want, live Object) Object {
	switch w := want.(type) {
	case *policyv1.PodDisruptionBudget:
		if l, is := live.(*policyv1.PodDisruptionBudget); is && Closed(l) {
			w = w.DeepCopy()
			Close(w)
		}
		return w
	case *appsv1.StatefulSet:
		s := *w // not as deep as the template, which is most of it
		if l, is := live.(*appsv1.StatefulSet); is {
			KeepVolumeSize(&s, l)
		}
		s.Spec.Template, s.Annotations = corev1.PodTemplateSpec{}, maps.Clone(w.Annotations)
		for _, mark := range []string{ImageAnnotation, valkeyv1.TemplateAnnotation} {
			delete(s.Annotations, mark)
		}
		return &s
	}
	return want
}

func anyNodeProgram(obj Object) Object {
	s, is := obj.(*appsv1.StatefulSet)
	if !is {
		return obj
	}
	s = s.DeepCopy()
	for i := range s.Spec.Template.Spec.InitContainers {
		s.Spec.Template.Spec.InitContainers[i].Image = ""
	}
	for i := range s.Spec.VolumeClaimTemplates { // see KeepVolumeSize
		s.Spec.VolumeClaimTemplates[i].Spec.Resources = corev1.VolumeResourceRequirements{}
	}
	return s
}
