package spec

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// AppliedAnnotation bears the hash of what a child was built as. A child that
// bears another is to be applied again.
const AppliedAnnotation = "valkey.statecraft.dev/applied"

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
type Object interface {
	metav1.Object
	runtime.Object
}

// KindOf names the kind of a child.
func KindOf(child Object) string {
	switch child.(type) {
	case *corev1.Service:
		return "Service"
	case *corev1.ConfigMap:
		return "ConfigMap"
	case *policyv1.PodDisruptionBudget:
		return "PodDisruptionBudget"
	case *appsv1.StatefulSet:
		return "StatefulSet"
	}
	return fmt.Sprintf("%T", child)
}

// stamp lets a child bear the hash of what it is built as, whichever release of the
// node program is in it: a new one is no reason to restart servers.
func stamp(child Object) {
	text, err := json.Marshal(anyNodeProgram(child))
	if err != nil {
		panic(err) // a Kubernetes type that is not data
	}
	annotations := child.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[AppliedAnnotation] = fmt.Sprintf("%x", sha256.Sum256(text))[:16]
	child.SetAnnotations(annotations)
}

func anyNodeProgram(child Object) Object {
	s, is := child.(*appsv1.StatefulSet)
	if !is {
		return child
	}
	s = s.DeepCopy()
	for i := range s.Spec.Template.Spec.InitContainers {
		s.Spec.Template.Spec.InitContainers[i].Image = ""
	}
	return s
}
