package act

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	restoring "github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

const longestWords = 1024

// tell writes the condition of the claim, or takes it away.
func (a Restorer) tell(ctx context.Context, r *restoring.Restore, e restoring.Tell) error {
	was := &corev1.PersistentVolumeClaim{}
	if err := a.Live.Get(ctx, read.Key{Namespace: r.Namespace, Name: e.Claim.Name}, was); err != nil {
		return kube.Classify(fmt.Errorf("read claim: %w", err))
	}
	if was.UID != e.Claim.UID {
		return &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("claim %s is another one", e.Claim.Name)}
	}
	next := was.DeepCopy()
	next.Status.Conditions = slices.DeleteFunc(next.Status.Conditions, func(c corev1.PersistentVolumeClaimCondition) bool {
		return c.Type == capturev1.RestoreCondition
	})
	if e.Reason != "" {
		words := []rune(e.Words)
		next.Status.Conditions = append(next.Status.Conditions, corev1.PersistentVolumeClaimCondition{
			Type: capturev1.RestoreCondition, Status: corev1.ConditionFalse, Reason: string(e.Reason),
			Message: string(words[:min(len(words), longestWords)]), LastTransitionTime: metav1.NewTime(a.Now()),
		})
	}
	return a.Writer.PatchStatus(ctx, was, next)
}
