package plan

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// What the schema of a status allows.
const (
	longestStep = 128
	longestSeen = 512
)

// Record adds the steps that were taken by proof, and keeps the last ones. What is done again by the
// same proof is told once.
func Record(proofs []valkeyv1.Proof, now time.Time, outcomes []fsm.Outcome) []valkeyv1.Proof {
	for _, o := range outcomes {
		proven, is := o.Effect.(fsm.Proven)
		if !is || o.Err != nil || proven.Evidence() == "" {
			continue
		}
		step, seen := o.Effect.String(), proven.Evidence()
		p := valkeyv1.Proof{At: metav1.Time{Time: now.Truncate(time.Second)}, Step: step[:min(len(step), longestStep)], Seen: seen[:min(len(seen), longestSeen)]}
		if slices.ContainsFunc(proofs, func(was valkeyv1.Proof) bool { return was.Step == p.Step && was.Seen == p.Seen }) {
			continue
		}
		proofs = append(proofs[:len(proofs):len(proofs)], p)
	}
	return proofs[max(0, len(proofs)-valkeyv1.MostProofs):]
}
