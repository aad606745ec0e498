package ownership

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
)

// AskedOf is what the spec asked for when the number of a child was last applied; nil is not known.
func AskedOf(obj metav1.Object) *int32 {
	n, err := strconv.ParseInt(obj.GetAnnotations()[runtimev1.ReplicasAnnotation], 10, 32)
	if err != nil {
		return nil
	}
	return ptr.To(int32(n))
}

// PutAsked records it on what is to be applied. On the child itself it survives the loss of a status.
func PutAsked(obj metav1.Object, asked *int32) {
	if asked == nil {
		return
	}
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[runtimev1.ReplicasAnnotation] = strconv.Itoa(int(*asked))
	obj.SetAnnotations(annotations)
}
