package manifestcapture

import (
	"fmt"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
)

// Budget is how many bytes checkpoints may hold in etcd, all of them and those of one namespace; 0 is without a limit.
// A full etcd stops the whole cluster.
type Budget struct {
	All       int64 `json:"all,omitempty"`
	Namespace int64 `json:"namespace,omitempty"`
}

// Held is how many they hold.
type Held struct {
	All       int64 `json:"all,omitempty"`
	Namespace int64 `json:"namespace,omitempty"`
}

// Refuse says why a checkpoint of a namespace may not be written; nil if it may. How much it needs is not known before
// it was read: then it is 0, and only what is used up counts.
func (b Budget) Refuse(namespace string, h Held, needs int64) *manifest.Refusal {
	switch {
	case exceeds(b.Namespace, h.Namespace, needs):
		return over("The checkpoints of namespace "+namespace+" hold", "--capture-checkpoint-share", b.Namespace, h.Namespace, needs)
	case exceeds(b.All, h.All, needs):
		return over("All checkpoints together hold", "--capture-checkpoint-budget", b.All, h.All, needs)
	}
	return nil
}

func exceeds(budget, held, needs int64) bool {
	return budget > 0 && (held >= budget || held+needs > budget)
}

func over(what, flag string, budget, held, needs int64) *manifest.Refusal {
	more := ""
	if needs > 0 {
		more = fmt.Sprintf(", and this one needs %s", mebibytes(needs))
	}
	return &manifest.Refusal{Reason: capturev1.ReasonOverBudget, Message: fmt.Sprintf("%s %s of the %s that the operator allows%s. "+
		"Delete captures that are not needed (statecraft-captures list shows their sizes), or raise %s; then make another request.",
		what, mebibytes(held), mebibytes(budget), more, flag)}
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
