package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// KeeperMode says what ends a keeper.
// +kubebuilder:validation:Enum=FollowObject;FollowObjectWithTTL;TTL
type KeeperMode string

// The modes of a keeper.
const (
	// FollowObject keepers go with the object they follow.
	FollowObject KeeperMode = "FollowObject"
	// FollowObjectWithTTL keepers outlive the object they follow by spec.ttl.
	FollowObjectWithTTL KeeperMode = "FollowObjectWithTTL"
	// TTL keepers go spec.ttl after they were created.
	TTL KeeperMode = "TTL"
)

// ObjectKeeper owns artifacts on behalf of an object that cannot own them itself:
// a namespaced request cannot own a cluster-scoped artifact. The keeper follows
// that object; when it is gone for certain the keeper deletes itself, and garbage
// collection takes everything that the keeper owns.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster,shortName=ok,categories=statecraft
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.mode`
// +kubebuilder:printcolumn:name="Expires",type=string,JSONPath=`.status.expiresAt`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Follows",type=string,priority=1,JSONPath=`.spec.followRef.kind`
// +kubebuilder:printcolumn:name="Namespace",type=string,priority=1,JSONPath=`.spec.followRef.namespace`
// +kubebuilder:printcolumn:name="Name",type=string,priority=1,JSONPath=`.spec.followRef.name`
// +kubebuilder:printcolumn:name="Waiting For",type=string,priority=1,JSONPath=`.status.waitingFor`
type ObjectKeeper struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`
	// spec says what is followed and for how long the keeper outlives it. It cannot be changed.
	Spec ObjectKeeperSpec `json:"spec"`
	// status is what the manager saw and decided.
	// +optional
	// +default={"observedGeneration":-1}
	Status ObjectKeeperStatus `json:"status,omitzero"`
}

// ObjectKeeperSpec says what is followed and for how long the keeper outlives it.
//
// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec is immutable: delete the keeper and make another"
// +kubebuilder:validation:XValidation:rule="(self.mode == 'TTL') != has(self.followRef)",message="followRef is required, and with mode TTL it must be absent"
// +kubebuilder:validation:XValidation:rule="(self.mode == 'FollowObject') != has(self.ttl)",message="ttl is required, and with mode FollowObject it must be absent"
// +kubebuilder:validation:XValidation:rule="self.mode != 'TTL' || !has(self.namespaceGrace)",message="namespaceGrace needs an object to follow"
type ObjectKeeperSpec struct {
	// mode says what ends the keeper: FollowObject goes with the followed object,
	// FollowObjectWithTTL outlives it by ttl, TTL goes ttl after its own creation.
	// +kubebuilder:default=FollowObject
	// +optional
	Mode KeeperMode `json:"mode,omitempty"`
	// followRef names the followed object for good, by UID: an object that is
	// re-created under the same name is another one.
	// +optional
	FollowRef *FollowRef `json:"followRef,omitempty"`
	// ttl is how long the keeper outlives the followed object, or in mode TTL its
	// own creation; a duration such as 72h.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) > duration('0s')",message="ttl must be above zero"
	TTL *metav1.Duration `json:"ttl,omitempty"`
	// namespaceGrace is how long the keeper outlives the followed object when that
	// went together with its whole namespace, which is often a mistake; a duration
	// such as 168h. None by default.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s')",message="namespaceGrace must not be negative"
	NamespaceGrace *metav1.Duration `json:"namespaceGrace,omitempty"`
}

// FollowRef names one object for good.
type FollowRef struct {
	// apiVersion of the followed object, such as v1 or apps/v1.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	APIVersion string `json:"apiVersion"`
	// kind of the followed object. The manager may follow only kinds that a
	// ClusterRole labelled capture.statecraft.dev/followable=true lets it read.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Kind string `json:"kind"`
	// namespace of the followed object; absent if its kind has none.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`
	// namespaceUID is the UID of that namespace. With it, a namespace that was
	// deleted and re-created is told from one that was there all the time.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=128
	NamespaceUID types.UID `json:"namespaceUID,omitempty"`
	// name of the followed object.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// uid of the followed object.
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	UID types.UID `json:"uid"`
}

// ObjectKeeperStatus is what the manager saw and decided.
type ObjectKeeperStatus struct {
	meta.Progress `json:",inline"`
	// lostAt is when a live read first showed that the followed object is gone.
	// +optional
	LostAt *metav1.Time `json:"lostAt,omitempty"`
	// expiresAt is when the keeper deletes itself, unless the followed object is
	// there after all.
	// +optional
	ExpiresAt *metav1.Time `json:"expiresAt,omitempty"`
}

// GetProgress is where the machine keeps its place.
func (k *ObjectKeeper) GetProgress() *meta.Progress { return &k.Status.Progress }

// ObjectKeeperList is a list of keepers.
//
// +kubebuilder:object:root=true
type ObjectKeeperList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitzero"`
	// items are the keepers.
	Items []ObjectKeeper `json:"items"`
}
