package upgrade

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// ApproveAnnotation carries the token of what is approved.
const ApproveAnnotation = "statecraft.dev/approve"

// Upgrade is posted by a user.
type Upgrade struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`
	Spec              Spec   `json:"spec,omitzero"`
	Status            Status `json:"status,omitzero"`
}

// Spec is immutable.
type Spec struct {
	Image      string `json:"image,omitempty"`
	Supervised bool   `json:"supervised,omitempty"` // wait for approval before each failover
}

// Status is what cannot be observed.
type Status struct {
	meta.Progress `json:",inline"`
	Shards        []ShardStatus `json:"shards,omitempty"`
}

// ShardStatus is one lane. The cluster controller reads WantImage and applies it.
type ShardStatus struct {
	Name       string `json:"name"`
	meta.Place `json:",inline"`
	FromImage  string `json:"fromImage,omitempty"` // what it ran when the upgrade met it: the way back
	WantImage  string `json:"wantImage,omitempty"`
	Token      string `json:"token,omitempty"` // what to approve
}

// GetProgress implements fsm.Subject.
func (u *Upgrade) GetProgress() *meta.Progress { return &u.Status.Progress }

// DeepCopy implements fsm.Subject.
func (u *Upgrade) DeepCopy() *Upgrade {
	out := *u
	u.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	u.Status.Progress.DeepCopyInto(&out.Status.Progress)
	out.Status.Shards = slices.Clone(u.Status.Shards)
	for i := range out.Status.Shards {
		u.Status.Shards[i].Place.DeepCopyInto(&out.Status.Shards[i].Place)
	}
	return &out
}

// shard finds the lane of that name, or makes it.
func (u *Upgrade) shard(name string) *ShardStatus {
	for i := range u.Status.Shards {
		if u.Status.Shards[i].Name == name {
			return &u.Status.Shards[i]
		}
	}
	u.Status.Shards = append(u.Status.Shards, ShardStatus{Name: name})
	return &u.Status.Shards[len(u.Status.Shards)-1]
}

// from is the image that the shard came from, or "" when no lane knows.
func (u *Upgrade) from(shard string) string {
	for _, s := range u.Status.Shards {
		if s.Name == shard {
			return s.FromImage
		}
	}
	return ""
}

const (
	checkTimeout    = 10 * time.Minute
	podTimeout      = 10 * time.Minute
	syncTimeout     = 5 * time.Minute
	failoverTimeout = 2 * time.Minute
)
