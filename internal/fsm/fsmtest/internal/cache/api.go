package cache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// Cache is posted by a user.
type Cache struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              Spec   `json:"spec,omitzero"`
	Status            Status `json:"status,omitzero"`
}

// Spec is what the user wants.
type Spec struct {
	Size   int  `json:"size,omitempty"`
	Paused bool `json:"paused,omitempty"`
}

// Status is what cannot be observed.
type Status struct {
	meta.Progress `json:",inline"`
}

// GetProgress implements fsm.Subject.
func (c *Cache) GetProgress() *meta.Progress { return &c.Status.Progress }

// DeepCopy implements fsm.Subject.
func (c *Cache) DeepCopy() *Cache {
	out := *c
	c.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	c.Status.Progress.DeepCopyInto(&out.Status.Progress)
	return &out
}
