package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

var (
	claimKind  = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
	volumeKind = corev1.SchemeGroupVersion.WithKind("PersistentVolume")
)

// VolumeCapture observes what a capture of a volume is about. Claims, volumes and contents
// are not cached: they are looked at a few times in the life of a request.
type VolumeCapture struct {
	Keeping Keeping
	Live    read.Live
	// Watch wakes the request when something of these kinds changes. A look begins the watch;
	// what it knows is not asked for.
	Watch read.Watch
	// Namespace is where the holders of detached volumes are.
	Namespace string
	Rights    Rights
	Limits    request.Limits
}

// capture is one look.
type capture struct {
	VolumeCapture
	ctx context.Context //nolint:containedctx // of this look, which ends with it
	req *capturev1.VolumeCaptureRequest
	w   *volumecapture.World
}

// Observe reads what the phase of the request needs.
func (o VolumeCapture) Observe(ctx context.Context, r *capturev1.VolumeCaptureRequest) (w volumecapture.World, err error) {
	if volumecapture.Ended(r) {
		return w, nil
	}
	if w.Keeping, err = o.Keeping.Look(ctx, r); err != nil {
		return w, err
	}
	look := capture{o, ctx, r, &w}
	if err = look.rights(); err != nil {
		return w, err
	}
	detaches := r.Spec.Mode == capturev1.Detach
	switch phase := r.Status.Phase; {
	case phase == volumecapture.Preparing:
	case detaches:
		err = look.detach()
	case phase == "" && w.Keeping.Sight == presence.Here: // its status was lost
		err = look.lost()
	case phase == "" || phase == volumecapture.Pending:
		err = look.source()
	case phase == volumecapture.Capturing:
		err = look.snapshot()
	case phase == volumecapture.CleaningUp:
		err = look.content()
	}
	return w, err
}

// rights asks what the requester may do, until nothing that needs it is left to be done, and whether the request was
// accepted.
func (c capture) rights() (err error) {
	q := Question{By: c.req.Spec.Requester, Made: c.req.CreationTimestamp, Keeping: c.w.Keeping}
	switch c.req.Status.Phase {
	case volumecapture.CleaningUp:
		return nil
	case "", volumecapture.Pending:
		q.Needs = volumecapture.Needs(c.req)
		if c.w.Limits, err = c.Keeping.limits(c.ctx, c.Limits, "VolumeCaptureRequest", c.w.Keeping); err != nil {
			return err
		}
	case volumecapture.Preparing, volumecapture.Detaching:
		q.Needs = volumecapture.Needs(c.req)
	}
	c.w.Rights, err = c.Rights.Ask(c.ctx, q)
	return err
}

// lost looks for what was made, and does without guesses: what cannot be read says nothing.
func (c capture) lost() error {
	if err := c.content(); err != nil {
		return err
	}
	if why := c.w.Content.Why; why != "" {
		return fmt.Errorf("read content of a request whose status was lost: %s", why)
	}
	return nil
}

// snapshot looks at the content, and if there is none at all that is needed to make it.
func (c capture) snapshot() error {
	if err := c.content(); err != nil || c.w.Content.Sight != presence.Gone {
		return err
	}
	if err := c.self(); err != nil {
		return err
	}
	return c.source()
}

// self reads the request itself. Gone, or another under its name, is no phase at all.
func (c capture) self() error {
	is := &capturev1.VolumeCaptureRequest{}
	err := c.Live.Get(c.ctx, read.Key{Namespace: c.req.Namespace, Name: c.req.Name}, is)
	switch {
	case read.SaysGone(err, c.req.Name):
		return nil
	case err != nil:
		return fmt.Errorf("read request itself: %w", err)
	case is.UID == c.req.UID:
		c.w.Self = is.Status.Phase
	}
	return nil
}

// source reads the claim, its volume and the class.
func (c capture) source() error {
	claim, err := c.claim()
	if err != nil || claim == nil || claim.Spec.VolumeName == "" {
		return err
	}
	if err := c.volume(claim.Spec.VolumeName); err != nil {
		return err
	}
	c.bound(claim)
	if !c.w.Claim.Bound || c.req.Spec.Mode == capturev1.Detach || c.w.Volume.Driver == "" {
		return nil
	}
	return c.class()
}

// claim reads the claim that the request names. Its name under another UID is not it.
func (c capture) claim() (*corev1.PersistentVolumeClaim, error) {
	key := read.Key{Namespace: c.req.Namespace, Name: c.req.Spec.Target.Name}
	c.Watch.Look(claimKind, key)
	claim := &corev1.PersistentVolumeClaim{}
	switch is, err := read.Find(c.ctx, c.Live, key, claim, read.Is[*corev1.PersistentVolumeClaim](c.req.Spec.Target.UID)); {
	case apierrors.IsForbidden(err):
		c.w.Claim.Sight, c.w.Claim.Why = presence.Unknown, presence.Forbidden
		return nil, nil
	case err != nil:
		return nil, err
	case is != presence.Here:
		c.w.Claim.Sight = presence.Gone
		return nil, nil
	}
	c.w.Claim = volumecapture.Claim{Sight: presence.Here, UID: claim.UID, ResourceVersion: claim.ResourceVersion}
	if at := claim.DeletionTimestamp; at != nil {
		c.w.Claim.Deleting, c.w.Claim.DeletedAt = true, at.Time
	}
	return claim, nil
}

// bound says whether claim and volume name each other.
func (c capture) bound(claim *corev1.PersistentVolumeClaim) {
	c.w.Claim.Bound = claim.Status.Phase == corev1.ClaimBound && c.w.Volume.Sight == presence.Here &&
		c.w.Volume.Name == claim.Spec.VolumeName && c.w.Volume.ClaimUID == claim.UID
}

// volume reads a volume.
func (c capture) volume(name string) error {
	v := &corev1.PersistentVolume{}
	switch is, err := read.Find(c.ctx, c.Live, read.Key{Name: name}, v, nil); {
	case apierrors.IsForbidden(err):
		c.w.Volume = volumecapture.Volume{Sight: is, Why: presence.Forbidden, Name: name}
	case err != nil:
		return err
	case is == presence.Gone:
		c.w.Volume = volumecapture.Volume{Sight: is, Name: name}
	default:
		c.w.Volume = volumeOf(v)
	}
	return nil
}

func volumeOf(v *corev1.PersistentVolume) volumecapture.Volume {
	seen := volumecapture.Volume{
		Sight: presence.Here, Name: v.Name, UID: v.UID, ResourceVersion: v.ResourceVersion,
		Mode: string(ptr.Deref(v.Spec.VolumeMode, "")), Policy: string(v.Spec.PersistentVolumeReclaimPolicy),
		Mark: volumecapture.MarkOf(v), Deleting: v.DeletionTimestamp != nil,
	}
	if v.Spec.CSI != nil {
		seen.Driver, seen.Handle = v.Spec.CSI.Driver, v.Spec.CSI.VolumeHandle
	}
	if v.Spec.ClaimRef != nil {
		seen.ClaimUID = v.Spec.ClaimRef.UID
	}
	return seen
}
