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

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// AppliedAnnotation bears the hash of what a child was built as. A child that
// bears another is to be applied again.
const AppliedAnnotation = "valkey.statecraft.dev/applied"

// Object is a child.
type Object interface {
	metav1.Object
	runtime.Object
}

// Children is everything that a cluster of so many shards owns, in the order in which
// it is made: what pods need comes before the pods. How wide a StatefulSet is to be
// is for whoever applies it to say.
func Children(c *valkeyv1.ValkeyCluster, masters int) []Object {
	children := []Object{NodesService(c), EndpointService(c), ConfigMap(c), DisruptionBudget(c)}
	for i := range masters {
		children = append(children, StatefulSet(c, i))
	}
	for _, child := range children {
		stamp(child)
	}
	return children
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

// stamp lets a child bear the hash of what it is built as.
func stamp(child Object) {
	text, err := json.Marshal(child)
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
