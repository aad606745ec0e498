// Package kubetest has a kind of its own, as small as a kind can be, so that the
// adapter is tested without any area.
package kubetest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// GroupVersion is where lamps are. Its definition is in test/integration/kube/testdata.
var GroupVersion = schema.GroupVersion{Group: "test.statecraft.dev", Version: "v1alpha1"}

// Lamp is an object that a machine runs over.
type Lamp struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              LampSpec   `json:"spec,omitzero"`
	Status            LampStatus `json:"status,omitzero"`
}

// LampSpec is what is wanted of a lamp.
type LampSpec struct {
	Wish string `json:"wish,omitempty"`
}

// LampStatus is where a lamp stands.
type LampStatus struct {
	meta.Progress `json:",inline"`
	Bulb          meta.Place `json:"bulb,omitzero"` // its only lane
	Seen          string     `json:"seen,omitempty"`
}

// LampList is a list of lamps.
type LampList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []Lamp `json:"items"`
}

// GetProgress implements fsm.Subject.
func (l *Lamp) GetProgress() *meta.Progress { return &l.Status.Progress }

// DeepCopy implements fsm.Subject.
func (l *Lamp) DeepCopy() *Lamp {
	out := &Lamp{TypeMeta: l.TypeMeta, ObjectMeta: *l.ObjectMeta.DeepCopy(), Spec: l.Spec}
	l.Status.Progress.DeepCopyInto(&out.Status.Progress)
	l.Status.Bulb.DeepCopyInto(&out.Status.Bulb)
	out.Status.Seen = l.Status.Seen
	return out
}

// DeepCopyObject implements runtime.Object.
func (l *Lamp) DeepCopyObject() runtime.Object { return l.DeepCopy() }

// DeepCopyObject implements runtime.Object.
func (l *LampList) DeepCopyObject() runtime.Object {
	out := &LampList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopy())
	}
	return out
}

// AddToScheme registers lamps.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Lamp{}, &LampList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
