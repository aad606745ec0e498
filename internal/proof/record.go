package proof

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// What the schema of a status allows.
const (
	longestStep  = 128
	longestSeen  = 512
	mostSubjects = 4
)

// Bound is an effect whose proof is about objects of Kubernetes.
type Bound interface{ Subjects() []Subject }

// Record adds the steps that were taken by proof, and keeps the last ones. What is done again by the
// same proof is told once.
func Record(proofs []meta.Proof, now time.Time, outcomes []fsm.Outcome) []meta.Proof {
	for _, o := range outcomes {
		proven, is := o.Effect.(fsm.Proven)
		if !is || o.Err != nil || proven.Evidence() == "" {
			continue
		}
		p := recordOf(o.Effect, proven.Evidence(), now)
		if slices.ContainsFunc(proofs, func(was meta.Proof) bool {
			return was.Step == p.Step && was.Seen == p.Seen && slices.Equal(was.Of, p.Of)
		}) {
			continue
		}
		proofs = append(proofs[:len(proofs):len(proofs)], p)
	}
	return proofs[max(0, len(proofs)-meta.MostProofs):]
}

func recordOf(effect fsm.Effect, seen string, now time.Time) meta.Proof {
	step := effect.String()
	p := meta.Proof{
		At: metav1.Time{Time: now.Truncate(time.Second)}, Step: cut(step, longestStep), Seen: cut(seen, longestSeen),
	}
	if bound, is := effect.(Bound); is {
		for _, s := range bound.Subjects() {
			p.Of = append(p.Of, meta.ProofSubject{Kind: s.Kind, Namespace: s.Namespace, Name: s.Name, UID: s.UID})
		}
		p.Of = p.Of[:min(len(p.Of), mostSubjects)]
	}
	return p
}

// cut shortens text, but not in the middle of a character: what is stored would differ from what is compared to it.
func cut(text string, most int) string {
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}
