package observe

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// KeptIndex is the index of requests' keepers by KeptIn.
const KeptIndex = "keptIn"

// KeptIn is a namespace, by its UID, and a kind of requests.
func KeptIn(namespace types.UID, kind string) string { return string(namespace) + "/" + kind }

// limits counts what a namespace keeps of a kind, by its keepers: they outlive requests. The cache does: a few more
// than are allowed do no harm.
func (o Keeping) limits(ctx context.Context, of request.Limits, kind string, k request.Keeping) (request.Limits, error) {
	if of.Captures == 0 || k.Namespace == "" {
		return of, nil
	}
	var keepers capturev1.ObjectKeeperList
	if err := o.Cached.List(ctx, &keepers, read.Fields{KeptIndex: KeptIn(k.Namespace, kind)}); err != nil {
		return of, fmt.Errorf("list keepers: %w", err)
	}
	for i := range keepers.Items {
		if keepers.Items[i].UID != k.UID {
			of.Kept++
		}
	}
	return of, nil
}

// checkpoints is how many are read at once.
const checkpoints = 250

// Held counts the bytes that checkpoints hold, and those of one namespace, live: each capture adds to them.
func Held(ctx context.Context, live read.Live, namespace types.UID) (all, own int64, err error) {
	for next := ""; ; {
		var list capturev1.ManifestCheckpointList
		if err := live.List(ctx, &list, read.Limit(checkpoints), read.Continue(next)); err != nil {
			return 0, 0, fmt.Errorf("list checkpoints: %w", err)
		}
		for i := range list.Items {
			spec := &list.Items[i].Spec
			all += spec.Bytes
			if spec.Origin.NamespaceUID == namespace {
				own += spec.Bytes
			}
		}
		if next = list.Continue; next == "" {
			return all, own, nil
		}
	}
}
