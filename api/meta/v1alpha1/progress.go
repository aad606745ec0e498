package v1alpha1

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type (
	// Phase names one phase of a machine. "" means never seen, or forgotten.
	// +kubebuilder:validation:MaxLength=64
	Phase string
	// Event names one way out of a phase.
	// +kubebuilder:validation:MaxLength=64
	Event string
	// Reason is a CamelCase constant: why a decision was taken.
	// +kubebuilder:validation:MaxLength=128
	Reason string
)

// Place is where something stands: an object, or one lane of it.
// Its times are whole seconds, because that is all metav1.Time keeps.
type Place struct {
	// phase is the controller's memory, not a contract: clients wait on conditions.
	// +optional
	Phase Phase `json:"phase,omitempty"`
	// since is when phase was entered.
	// +optional
	Since metav1.Time `json:"since,omitzero"`
	// deadline is when the phase is given up. It is absolute and stamped on entry,
	// so it survives restarts and changes of leader.
	// +optional
	Deadline *metav1.Time `json:"deadline,omitempty"`
	// heldSince is set while a hold stops the clock; on release deadline moves by the time held.
	// +optional
	HeldSince *metav1.Time `json:"heldSince,omitempty"`
	// failures counts failed batches of effects in a row since entry.
	// +optional
	Failures int32 `json:"failures,omitempty"`
	// retryAt is the end of the back-off. It is kept here because our own status
	// write wakes the object at once and so voids the back-off of the queue.
	// +optional
	RetryAt *metav1.Time `json:"retryAt,omitempty"`
}

// Progress is embedded in every status.
type Progress struct {
	Place `json:",inline"`
	// observedGeneration is the generation last decided upon.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// reason is that of the last decision, or of what else keeps the object from being ready. It
	// belongs to waitingFor, and stands alone where nothing is awaited.
	// +optional
	Reason Reason `json:"reason,omitempty"`
	// waitingFor says in one line what is awaited and who must act. It is empty
	// when nothing is awaited.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	WaitingFor string `json:"waitingFor,omitempty"`
	// conditions are Ready, Stalled and the kind's own.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// history holds the last 16 moves, the oldest first.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	History []Transition `json:"history,omitempty"`
	// machineHash names the table of the machine that last changed this status.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	MachineHash string `json:"machineHash,omitempty"`
}

// LastMove is the object's last move into a phase, as far as its history goes back.
func (p *Progress) LastMove(into Phase) (Transition, bool) {
	for _, move := range slices.Backward(p.History) {
		if move.To == into {
			return move, true
		}
	}
	return Transition{}, false
}

// Transition is one move from phase to phase.
type Transition struct {
	// from is the phase that was left; it is empty for the first move.
	// +optional
	From Phase `json:"from,omitempty"`
	// to is the phase that was entered.
	To Phase `json:"to"`
	// event is the declared edge that was taken.
	Event Event `json:"event"`
	// reason is why it was taken.
	Reason Reason `json:"reason"`
	// message says in words why it was taken: what was seen, refused, or awaited in vain.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
	// at is when it was taken.
	At metav1.Time `json:"at"`
}
