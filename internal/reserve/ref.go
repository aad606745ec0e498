package reserve

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Ref names one object for good: its name may be used again, its UID is not.
type Ref struct {
	Kind      string // with its group, as in ValkeyUpgrade.valkey.statecraft.dev
	Namespace string
	Name      string
	UID       types.UID
}

// RefOf names an object for good.
func RefOf(kind schema.GroupKind, obj metav1.Object) Ref {
	return Ref{Kind: kind.Kind + "." + kind.Group, Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID()}
}

// GroupKind is the kind and its group.
func (h Ref) GroupKind() schema.GroupKind { return schema.ParseGroupKind(h.Kind) }

// Is says that it is of this kind.
func (h Ref) Is(kind schema.GroupKind) bool { return h.GroupKind() == kind }

// String is how a reference is written into a Lease.
func (h Ref) String() string {
	return strings.Join([]string{h.Kind, h.Namespace, h.Name, string(h.UID)}, "/")
}

// Title is how it is shown to a person.
func (h Ref) Title() string {
	kind, _, _ := strings.Cut(h.Kind, ".")
	if h.Namespace == "" {
		return kind + " " + h.Name
	}
	return kind + " " + h.Namespace + "/" + h.Name
}

// ParseRef reads what String wrote.
func ParseRef(s string) (Ref, error) {
	parts := strings.Split(s, "/")
	if len(parts) != 4 || parts[0] == "" || parts[2] == "" || parts[3] == "" {
		return Ref{}, fmt.Errorf("parse reference %q: want kind/namespace/name/uid", s)
	}
	return Ref{Kind: parts[0], Namespace: parts[1], Name: parts[2], UID: types.UID(parts[3])}, nil
}
