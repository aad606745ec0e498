package child

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Stamp is the annotation that bears the hash of what a child was built as. A child that
// bears another is to be applied again.
type Stamp string

// Of is the stamp that an object bears, "" if none.
func (s Stamp) Of(obj metav1.Object) string { return obj.GetAnnotations()[string(s)] }

// Put lets a child bear the hash of as, which is the child itself without what must not
// make it another: a stamp that changes lets the child be applied again.
func (s Stamp) Put(child, as Object) {
	annotations := child.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[string(s)] = Hash(as)
	child.SetAnnotations(annotations)
}

// Hash names what is in a value of a Kubernetes type.
func Hash(of any) string {
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // a Kubernetes type that is not data
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))[:16]
}
