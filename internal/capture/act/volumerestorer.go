package act

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	restoring "github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer/csi"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Restorer performs the effects of the process beside a CSI driver.
type Restorer struct {
	Writer    kube.Writer
	Live      read.Live
	Driver    csi.Driver
	Namespace string // of intents
	Now       func() time.Time
}

// Act performs one effect.
func (a Restorer) Act(ctx context.Context, r *restoring.Restore, e fsm.Effect) (string, error) {
	switch e := e.(type) {
	case restoring.CreateClaim:
		return a.createClaim(ctx, r, e)
	case restoring.DeleteClaim:
		return "", a.deleteClaim(ctx, r, e)
	case restoring.Tell:
		return "", a.tell(ctx, r, e)
	case restoring.CreateVolume:
		return a.createVolume(ctx, e.Intent.Plan)
	case restoring.DiscardVolume:
		return "", a.discardVolume(ctx, e.Intent.Plan)
	case restoring.CreateIntent:
		return "", a.createIntent(ctx, e.Intent)
	case restoring.RemoveIntent:
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: restoring.VolumeName(r.UID)}}
		return "", a.Writer.Delete(ctx, cm, kube.Seen{UID: e.UID, ResourceVersion: e.ResourceVersion})
	case restoring.CreatePV:
		there := &corev1.PersistentVolume{}
		return "", a.Writer.CreateUnowned(ctx, restoring.NewPV(e.Intent, e.Volume), there, func() bool {
			return there.Spec.ClaimRef != nil && there.Spec.ClaimRef.UID == e.Intent.Claim.UID
		})
	case restoring.MoveVolume:
		return "", a.moveVolume(ctx, r, e)
	case restoring.FinishMove:
		return "", a.finishMove(ctx, e)
	}
	return "", fmt.Errorf("unknown effect %s", e)
}

func (a Restorer) createIntent(ctx context.Context, i restoring.Intent) error {
	cm, err := i.ConfigMap(a.Namespace)
	if err != nil {
		return err
	}
	there := &corev1.ConfigMap{}
	return a.Writer.CreateUnowned(ctx, cm, there, func() bool {
		stored, err := restoring.ParseIntent(there)
		return err == nil && stored.Claim == i.Claim
	})
}

// createClaim makes the claim from the request as it is now: a request that was given up a
// moment ago gets none any more.
func (a Restorer) createClaim(ctx context.Context, r *restoring.Restore, e restoring.CreateClaim) (string, error) {
	asks := &capturev1.VolumeRestoreRequest{}
	if err := a.Live.Get(ctx, read.Key{Namespace: r.Namespace, Name: r.Name}, asks); err != nil {
		return "", kube.Classify(fmt.Errorf("read request: %w", err))
	}
	if asks.UID != r.UID {
		return "", &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("request %s is another one", r.Name)}
	}
	claim, there := restoring.NewClaim(asks, e), &corev1.PersistentVolumeClaim{}
	err := a.Writer.CreateUnowned(ctx, claim, there, func() bool { return restoring.IsOurs(there, r) })
	return string(claim.UID), err
}

// deleteClaim deletes a claim that nobody will ever fill.
func (a Restorer) deleteClaim(ctx context.Context, r *restoring.Restore, e restoring.DeleteClaim) error {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: e.Name}}
	return a.Writer.Delete(ctx, claim, kube.Seen{UID: e.UID, ResourceVersion: e.ResourceVersion})
}

func (a Restorer) createVolume(ctx context.Context, p restoring.Plan) (string, error) {
	secrets, err := a.secrets(ctx, p)
	if err != nil {
		return "", err
	}
	v, err := csi.Restore(ctx, a.Driver, p, secrets)
	if err != nil {
		return "", err
	}
	return v.Answer()
}

// discardVolume deletes the volume of a plan. If it were wrong, restored data would be lost: so
// it is done only after live reads have shown that no PersistentVolume has it, and that nobody
// waits for one.
func (a Restorer) discardVolume(ctx context.Context, p restoring.Plan) error {
	secrets, err := a.secrets(ctx, p)
	if err != nil {
		return err
	}
	return csi.Discard(ctx, a.Driver, p, secrets)
}

// secrets reads what the driver needs; it is nowhere kept.
func (a Restorer) secrets(ctx context.Context, p restoring.Plan) (map[string]string, error) {
	if p.Secret == nil {
		return nil, nil
	}
	var s corev1.Secret
	if err := a.Live.Get(ctx, read.Key{Namespace: p.Secret.Namespace, Name: p.Secret.Name}, &s); err != nil {
		return nil, &restoring.Failure{Err: fmt.Errorf("read secret %s/%s: %w", p.Secret.Namespace, p.Secret.Name, err)}
	}
	texts := map[string]string{}
	for key, value := range s.Data {
		texts[key] = string(value)
	}
	return texts, nil
}

// moveVolume hands a volume over. The holder is replaced by the claim in one write, so there
// is no moment in which anybody else could bind it.
func (a Restorer) moveVolume(ctx context.Context, r *restoring.Restore, e restoring.MoveVolume) error {
	was, err := a.asSeen(ctx, e.PV)
	if err != nil {
		return err
	}
	next := was.DeepCopy()
	next.Spec.ClaimRef = restoring.ClaimRef(e.Claim)
	next.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	metav1.SetMetaDataAnnotation(&next.ObjectMeta, capturev1.RestoreAnnotation, string(r.UID))
	return a.Writer.Patch(ctx, was, next)
}

// finishMove makes a volume that was moved one like any other.
func (a Restorer) finishMove(ctx context.Context, e restoring.FinishMove) error {
	was, err := a.asSeen(ctx, e.PV)
	if err != nil {
		return err
	}
	return a.Writer.Patch(ctx, was, volumecapture.Unmarked(was, volumecapture.MarkOf(was).Policy))
}

// asSeen is a volume, if it is still as it was seen.
func (a Restorer) asSeen(ctx context.Context, seen restoring.PV) (*corev1.PersistentVolume, error) {
	v := &corev1.PersistentVolume{}
	if err := a.Live.Get(ctx, read.Key{Name: seen.Name}, v); err != nil {
		return nil, kube.Classify(fmt.Errorf("read volume: %w", err))
	}
	if v.UID != seen.UID || v.ResourceVersion != seen.ResourceVersion {
		return nil, &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("volume %s was changed since", seen.Name)}
	}
	return v, nil
}
