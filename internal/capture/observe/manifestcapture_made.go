package observe

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// mostLeftovers is how many are removed in one pass.
const mostLeftovers = 32

// checkpoint reads the checkpoint of the request. It is ours if the request's keeper owns it.
func (o ManifestCapture) checkpoint(ctx context.Context, r *capturev1.ManifestCaptureRequest, w *manifestcapture.World) error {
	point, name := &capturev1.ManifestCheckpoint{}, checkpoint.Name(r.UID)
	is, err := read.Find(ctx, o.Live, read.Key{Name: name}, point, func(p *capturev1.ManifestCheckpoint) bool {
		return child.OwnedBy(p, w.Keeping.UID) && p.DeletionTimestamp == nil
	})
	if err != nil {
		return err
	}
	if w.Checkpoint.Sight = is; is == presence.Here {
		w.Checkpoint = manifestcapture.Checkpoint{
			Sight: is, Name: point.Name, UID: point.UID, ResourceVersion: point.Spec.ResourceVersion,
			Found: manifestcapture.Found{Expected: point.Spec.Objects, Skipped: point.Spec.Skipped},
		}
	}
	return nil
}

// leftovers lists what a failed request made: its checkpoint and chunks, as far as its keeper
// owns them. A request that never came to write made none.
func (o ManifestCapture) leftovers(ctx context.Context, r *capturev1.ManifestCaptureRequest, w *manifestcapture.World) error {
	w.Leftovers = []manifestcapture.Leftover{}
	if w.Keeping.Sight != presence.Here || !wrote(r) {
		return nil
	}
	for _, kind := range []string{manifestcapture.KindCheckpoint, manifestcapture.KindChunk} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(capturev1.GroupVersion.WithKind(kind + "List"))
		if err := o.Live.List(ctx, list, read.Labels{manifestcapture.RequestLabel: string(r.UID)}); err != nil {
			return fmt.Errorf("list %s: %w", kind, err)
		}
		for _, l := range list.Items {
			if child.OwnedBy(&l, w.Keeping.UID) && l.DeletionTimestamp == nil && len(w.Leftovers) < mostLeftovers {
				w.Leftovers = append(w.Leftovers, manifestcapture.Leftover{Kind: kind, Name: l.Name, UID: l.UID, ResourceVersion: l.ResourceVersion})
			}
		}
	}
	return nil
}

// wrote says that a request may have made something: it came to write, or nobody knows.
func wrote(r *capturev1.ManifestCaptureRequest) bool {
	return slices.ContainsFunc(r.Status.History, func(t meta.Transition) bool {
		return t.To == manifestcapture.Writing || t.Event == fsm.Lost
	})
}
