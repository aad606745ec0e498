package act

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/plan"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Upgrade performs the effects of a ValkeyUpgrade.
type Upgrade struct {
	Pods    kube.Writer
	Servers wire.Writer
	Live    read.Live
}

// Act performs one effect.
func (a Upgrade) Act(ctx context.Context, u *valkeyv1.ValkeyUpgrade, effect fsm.Effect) (string, error) {
	switch e := effect.(type) {
	case upgrade.DeletePod:
		return "", a.deletePod(ctx, u, e)
	case upgrade.Failover:
		return "", a.failover(ctx, e)
	case upgrade.CaptureVolume:
		return "", a.captureVolume(ctx, u, e)
	}
	return "", fmt.Errorf("unknown effect %s", effect)
}

// failover asks a replica to take over. If it were wrong, what the replica lacks would be
// lost: so it needs its proof, and the upgrade as it was decided upon.
func (a Upgrade) failover(ctx context.Context, e upgrade.Failover) error {
	if e.Proof == nil || !e.Proof.Of(plan.Server(e.To.ID)) || e.Proof.Forced() {
		return fmt.Errorf("%s: %w", e, errUnproven)
	}
	return classify(e.To.Pod, a.Servers.Failover(ctx, wire.Target{Addr: e.To.Addr, ID: e.To.ID, Mark: e.To.Mark}, wire.Agreed))
}

// deletePod deletes a pod, to be made anew by the template of its StatefulSet. If it were
// wrong, a copy of the shard would be lost: so it needs its proof, only this very pod in this
// very version goes, and only while the API server itself says that it would be made otherwise.
func (a Upgrade) deletePod(ctx context.Context, u *valkeyv1.ValkeyUpgrade, e upgrade.DeletePod) error {
	if e.Proof == nil || !e.Proof.Of(plan.Pod(e.Name, e.UID)) {
		return fmt.Errorf("%s: %w", e, errUnproven)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: u.Namespace, Name: e.Name}}
	err := a.Live.Get(ctx, read.Key{Namespace: u.Namespace, Name: e.Name}, pod)
	switch {
	case read.SaysGone(err, e.Name) || err == nil && string(pod.UID) != e.UID:
		return nil // what was to go has gone
	case err != nil:
		return kube.Classify(fmt.Errorf("read pod: %w", err))
	}
	if err := a.outdated(ctx, pod, e); err != nil {
		return err
	}
	return a.Pods.Delete(ctx, pod, kube.Seen{UID: types.UID(e.UID), ResourceVersion: e.Version})
}

// outdated asks the API server whether a pod would be made otherwise by now.
func (a Upgrade) outdated(ctx context.Context, pod *corev1.Pod, e upgrade.DeletePod) error {
	var set appsv1.StatefulSet
	if err := a.Live.Get(ctx, read.Key{Namespace: pod.Namespace, Name: e.Set}, &set); err != nil {
		return kube.Classify(fmt.Errorf("read StatefulSet: %w", err))
	}
	bears := set.Annotations[valkeyv1.TemplateAnnotation] == e.Template && set.Status.ObservedGeneration >= set.Generation &&
		set.Status.UpdateRevision == e.Revision
	if !bears || pod.Labels[appsv1.ControllerRevisionHashLabelKey] == e.Revision || !child.OwnedBy(pod, set.UID) {
		return &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("delete pod %s: it is what its StatefulSet makes, or that has changed", pod.Name)}
	}
	return nil
}
