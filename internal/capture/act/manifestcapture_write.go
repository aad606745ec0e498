package act

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// writer is the work that writes chunks, and then the checkpoint. If nobody remembers what was
// read, it is read again.
func (a ManifestCapture) writer(r *capturev1.ManifestCaptureRequest, e manifestcapture.StartWriting) captureJob {
	key := client.ObjectKeyFromObject(r)
	s := a.Buffer.buffer(key, &buffer{request: r.DeepCopy(), moment: e.Moment})
	looked, weighed := false, false
	return a.Buffer.releaseOnError(key, s, func(ctx context.Context) (result manifestcapture.Result, done bool, err error) {
		switch {
		case !looked:
			err = a.stillWrites(ctx, r, e.Moment)
			looked = err == nil
		case !s.done:
			_, err = a.readOn(ctx, key, s)
		case !weighed:
			err = a.weigh(ctx, s, e)
			weighed = err == nil
		case s.written < len(s.chunks):
			err = a.writeChunk(ctx, s, e)
		default:
			if err = a.commit(ctx, s, e); err == nil {
				result.Found, done = s.found(), true
				a.Buffer.close(key, s)
			}
		}
		return result, done, err
	})
}

// stillWrites reads the request itself: after a restart the cache may show it as it was before
// it failed, and what was removed then would be written anew.
func (a ManifestCapture) stillWrites(ctx context.Context, r *capturev1.ManifestCaptureRequest, moment string) error {
	is := &capturev1.ManifestCaptureRequest{}
	if err := a.Live.Get(ctx, client.ObjectKeyFromObject(r), is); err != nil {
		return fmt.Errorf("read request %s: %w", r.Name, err)
	}
	if is.UID != r.UID || is.Status.Phase != manifestcapture.Writing || is.Status.ResourceVersion != moment {
		return fmt.Errorf("write for request %s: it is not about to be written any more", r.Name)
	}
	return a.permitted(ctx, r)
}

// permitted asks for the rights of the requester once more, before anything is written: captures wait for their turn.
func (a ManifestCapture) permitted(ctx context.Context, r *capturev1.ManifestCaptureRequest) error {
	rights, err := a.Rights(ctx, r.Spec.Requester, manifestcapture.Needs(r))
	if why, message, refused := rights.Refusal(); refused {
		return &manifest.Refusal{Reason: why, Message: message}
	}
	return err
}

// weigh holds what is to be written against the budget.
func (a ManifestCapture) weigh(ctx context.Context, s *buffer, e manifestcapture.StartWriting) error {
	if a.Budget == (manifestcapture.Budget{}) {
		return nil
	}
	keeper, err := a.keeper(ctx, s, e)
	if err != nil {
		return err
	}
	others := a.Buffer.weigh(s)
	all, own, err := a.Held(ctx, keeper.Spec.FollowRef.NamespaceUID)
	if err != nil {
		return err
	}
	held := manifestcapture.Held{All: all + others.All, Namespace: own + others.Namespace}
	if over := a.Budget.Refuse(s.request.Namespace, held, s.weight); over != nil {
		return over
	}
	return nil
}

// keeper reads the keeper of a request, which must be the one that owns what was written.
func (a ManifestCapture) keeper(ctx context.Context, s *buffer, e manifestcapture.StartWriting) (*capturev1.ObjectKeeper, error) {
	var keeper capturev1.ObjectKeeper
	name := request.KeeperName(s.request.UID)
	if err := a.Live.Get(ctx, read.Key{Name: name}, &keeper); err != nil {
		return nil, fmt.Errorf("read keeper %s: %w", name, err)
	}
	if keeper.UID != e.Keeper || keeper.Spec.FollowRef == nil {
		return nil, fmt.Errorf("read keeper %s: it is another", name)
	}
	return &keeper, nil
}

func (a ManifestCapture) writeChunk(ctx context.Context, s *buffer, e manifestcapture.StartWriting) error {
	chunk := s.chunks[s.written].Object.DeepCopy()
	chunk.Labels = map[string]string{manifestcapture.RequestLabel: string(s.request.UID)}
	chunk.OwnerReferences = []metav1.OwnerReference{request.KeptBy(s.request.UID, e.Keeper)}
	if err := a.Writer.Create(ctx, chunk); err != nil {
		return taken("chunk", err)
	}
	s.chunks[s.written].Object = nil // only how it is listed is needed from here on
	s.written++
	return nil
}

// taken tells a name that belongs to another from what may pass.
func taken(what string, err error) error {
	if refused := (*fsm.Error)(nil); errors.As(err, &refused) && refused.Say != "" && apierrors.ReasonForError(err) == metav1.StatusReasonUnknown {
		return &manifest.Refusal{Reason: capturev1.ReasonNameTaken, Message: "The name of the request's " + what + " is taken. " + refused.Say}
	}
	return fmt.Errorf("write %s: %w", what, err)
}

// commit writes the checkpoint.
func (a ManifestCapture) commit(ctx context.Context, s *buffer, e manifestcapture.StartWriting) error {
	keeper, err := a.keeper(ctx, s, e)
	if err != nil {
		return err
	}
	volumes, err := a.volumes(ctx, s.request, s.intake)
	if err != nil {
		return err
	}
	found := s.found()
	point := &capturev1.ManifestCheckpoint{
		ObjectMeta: metav1.ObjectMeta{
			Name:            checkpoint.Name(s.request.UID),
			Labels:          map[string]string{manifestcapture.RequestLabel: string(s.request.UID)},
			OwnerReferences: []metav1.OwnerReference{request.KeptBy(s.request.UID, e.Keeper)},
		},
		Spec: capturev1.ManifestCheckpointSpec{
			Origin: capturev1.Origin{
				Namespace: s.request.Namespace, NamespaceUID: keeper.Spec.FollowRef.NamespaceUID, RequestUID: s.request.UID,
			},
			ResourceVersion: s.moment, Objects: found.Expected, Skipped: found.Skipped, Volumes: volumes,
		},
	}
	if s.seal != nil {
		point.Spec.Encryption = &s.seal.Encryption
	}
	for _, c := range s.chunks {
		point.Spec.Chunks = append(point.Spec.Chunks, c.Ref)
		point.Spec.Bytes += int64(c.Ref.Bytes)
	}
	if err := a.Writer.Create(ctx, point); err != nil {
		return taken("checkpoint", err)
	}
	return nil
}

// volumes are what the request says of its claims, with the captures by UID: their names may
// be used again, and so may those of the claims.
func (a ManifestCapture) volumes(ctx context.Context, r *capturev1.ManifestCaptureRequest, in *manifest.Intake) ([]capturev1.ManifestVolume, error) {
	volumes := slices.Clone(r.Spec.Volumes)
	for i, v := range volumes {
		if v.VolumeCaptureRequest == "" {
			continue
		}
		var taken capturev1.VolumeCaptureRequest
		err := a.Live.Get(ctx, read.Key{Namespace: r.Namespace, Name: v.VolumeCaptureRequest}, &taken)
		switch {
		case read.SaysGone(err, v.VolumeCaptureRequest), err == nil && v.UID != "" && v.UID != taken.UID:
			return nil, &manifest.Refusal{Reason: capturev1.ReasonVolumeNotCaptured,
				Message: "VolumeCaptureRequest " + v.VolumeCaptureRequest + " of claim " + v.Claim + " is gone; capture the volume again, and make another request."}
		case err != nil:
			return nil, fmt.Errorf("read VolumeCaptureRequest %s: %w", v.VolumeCaptureRequest, err)
		case !apimeta.IsStatusConditionTrue(taken.Status.Conditions, fsm.Ready) || taken.Spec.Target.Name != v.Claim:
			return nil, &manifest.Refusal{Reason: capturev1.ReasonVolumeNotCaptured,
				Message: "VolumeCaptureRequest " + v.VolumeCaptureRequest + " is another one by now, and has nothing of claim " + v.Claim + "; make another request."}
		case !in.Claim(v.Claim).CapturedBy(&taken):
			return nil, &manifest.Refusal{Reason: capturev1.ReasonVolumeNotCaptured,
				Message: "VolumeCaptureRequest " + v.VolumeCaptureRequest + " has the data of another claim that had the name " + v.Claim + " before; capture the volume again, and make another request."}
		}
		volumes[i].UID = taken.UID
	}
	return volumes, nil
}
