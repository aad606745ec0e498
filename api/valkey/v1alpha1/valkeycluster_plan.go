package v1alpha1

// ClusterPlan is what a change of size comes to, before its first step and until its last.
type ClusterPlan struct {
	// token names the plan by what is in it. With spec.approvePlan the first step waits for
	// the annotation statecraft.dev/approve of this value.
	// +kubebuilder:validation:MaxLength=16
	Token string `json:"token"`
	// begun says that the first step was taken: the rest follows, unless the spec is edited.
	// +optional
	Begun bool `json:"begun,omitempty"`
	// from is how many shards there are, and how many replicas each has: "3x1".
	// +kubebuilder:validation:MaxLength=16
	From string `json:"from"`
	// to is how many there will be.
	// +kubebuilder:validation:MaxLength=16
	To string `json:"to"`
	// template names the pod template that the spec asks for.
	// +optional
	// +kubebuilder:validation:MaxLength=96
	Template string `json:"template,omitempty"`
	// steps are taken in this order: grow, move-slots, restart, shrink.
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4
	Steps []PlanStep `json:"steps"`
	// slots is how many slots are moved in all.
	// +optional
	Slots int32 `json:"slots,omitempty"`
	// bytes is about how much memory the keys in them take, if servers said so.
	// +optional
	Bytes int64 `json:"bytes,omitempty"`
	// moves says how many slots go from which shard to which.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=250
	Moves []PlannedMove `json:"moves,omitempty"`
}

// PlanStep is one part of a change.
// +kubebuilder:validation:MaxLength=16
type PlanStep string

// PlannedMove is slots that go from one shard to another, in few words: 250 of them must fit
// into an object.
type PlannedMove struct {
	// from is the index of the shard that gives them.
	From int32 `json:"from"`
	// to is the index of the shard that gets them.
	To int32 `json:"to"`
	// slots is how many.
	Slots int32 `json:"slots"`
	// bytes is about how much memory the keys in them take.
	// +optional
	Bytes int64 `json:"bytes,omitempty"`
}
