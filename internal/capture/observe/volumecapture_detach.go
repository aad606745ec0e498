package observe

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// detach reads the claim, its holder, the volume and who uses the claim. The request itself
// is read first: what is decided from the rest is about that phase.
func (c capture) detach() error {
	if err := c.self(); err != nil {
		return err
	}
	claim, err := c.claim()
	if err != nil {
		return err
	}
	holder, err := c.holder()
	if err != nil {
		return err
	}
	if err := c.findVolume(claim, holder); err != nil {
		return err
	}
	if claim == nil {
		return nil
	}
	c.bound(claim)
	return c.users()
}

// findVolume reads the volume that was saved, or that the claim or the holder names, or that
// bears the mark of the request: a status may be lost when neither of them is there.
func (c capture) findVolume(claim, holder *corev1.PersistentVolumeClaim) error {
	name := ""
	switch d := c.req.Status.Detached; {
	case d != nil:
		name = d.Name
	case holder != nil:
		name = holder.Spec.VolumeName
	case claim != nil:
		name = claim.Spec.VolumeName
	}
	if name != "" {
		c.Watch.Look(volumeKind, read.Key{Name: name})
		return c.volume(name)
	}
	if c.w.Keeping.Sight != presence.Here {
		return nil
	}
	var marked corev1.PersistentVolumeList
	if err := c.Live.List(c.ctx, &marked, read.Labels{capturev1.DetachedByLabel: string(c.req.UID)}); err != nil {
		return fmt.Errorf("list volumes: %w", err)
	}
	if len(marked.Items) == 1 {
		c.w.Volume = volumeOf(&marked.Items[0])
	}
	return nil
}

// holder reads the claim that holds, or will hold, the volume.
func (c capture) holder() (*corev1.PersistentVolumeClaim, error) {
	key := read.Key{Namespace: c.Namespace, Name: volumecapture.HolderName(c.req.UID)}
	holder := &corev1.PersistentVolumeClaim{}
	is, err := read.Find(c.ctx, c.Live, key, holder, func(h *corev1.PersistentVolumeClaim) bool { return c.owns(h) })
	if err != nil {
		return nil, err
	}
	if c.w.Holder.Sight = is; is != presence.Here {
		return nil, nil
	}
	c.w.Holder = volumecapture.Holder{
		Sight: presence.Here, UID: holder.UID, Bound: holder.Status.Phase == corev1.ClaimBound && holder.DeletionTimestamp == nil,
	}
	return holder, nil
}

// owns says that the keeper of the request controls an object.
func (c capture) owns(obj metav1.Object) bool {
	return c.w.Keeping.Sight == presence.Here && child.OwnedBy(obj, c.w.Keeping.UID)
}

// users looks for a pod that uses the claim, or soon will.
func (c capture) users() error {
	var pods corev1.PodList
	if err := c.Live.List(c.ctx, &pods, read.InNamespace(c.req.Namespace)); err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	c.w.Users.Looked = true
	for i := range pods.Items {
		if uses(&pods.Items[i], c.req.Spec.Target.Name) {
			c.w.Users.Pod = pods.Items[i].Name
			return nil
		}
	}
	return nil
}

func uses(pod *corev1.Pod, claim string) bool {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return false
	}
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim ||
			v.Ephemeral != nil && pod.Name+"-"+v.Name == claim {
			return true
		}
	}
	return false
}
