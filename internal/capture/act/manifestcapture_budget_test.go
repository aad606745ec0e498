package act

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// TestACaptureIsWeighedBeforeItIsWritten: with what checkpoints hold, and with what others are about to write.
func TestACaptureIsWeighedBeforeItIsWritten(t *testing.T) {
	const mib = 1 << 20
	keeper := request.NewKeeper(someRequest, capturev1.GroupVersion.WithKind("ManifestCaptureRequest"), "n1", request.Terms{})
	keeper.UID = "k1"
	of := func(namespace, name string, bytes int) (read.Key, *buffer) {
		r := someRequest.DeepCopy()
		r.Namespace, r.Name = namespace, name
		return read.Key{Namespace: namespace, Name: name}, &buffer{request: r, chunks: []checkpoint.Chunk{{Ref: capturev1.ChunkRef{Bytes: int32(bytes)}}}}
	}
	for what, c := range map[string]struct {
		all, own int64 // held
		other    string
		over     bool
	}{
		"there is room":                                        {all: 5 * mib, own: mib},
		"there is room, and none for one more":                 {all: 8 * mib, own: mib},
		"there is too little room":                             {all: 9 * mib, own: mib, over: true},
		"the namespace has used up its share":                  {all: 5 * mib, own: 4 * mib, over: true},
		"another capture is about to take the room":            {all: 7 * mib, own: mib, other: "other", over: true},
		"another capture of the namespace takes all its share": {all: 4 * mib, own: 2 * mib, other: "shop", over: true},
	} {
		a := ManifestCapture{
			Live: read.Live{Reader: serving(t, keeper)}, Buffer: NewCaptureBuffer(false), Budget: manifestcapture.Budget{All: 10 * mib, Namespace: 5 * mib},
			Held: func(_ context.Context, namespace types.UID) (int64, int64, error) {
				if namespace != "n1" {
					t.Errorf("counts for namespace %s", namespace)
				}
				return c.all, c.own, nil
			},
		}
		if c.other != "" {
			key, other := of(c.other, "other", 2*mib)
			a.Buffer.buffer(key, other)
			a.Buffer.weigh(other)
		}
		key, s := of("shop", "before", 2*mib)
		a.Buffer.buffer(key, s)
		err := a.weigh(t.Context(), s, manifestcapture.StartWriting{Keeper: "k1"})
		verdict := (*manifest.Refusal)(nil)
		if over := errors.As(err, &verdict); over != c.over || over && verdict.Reason != capturev1.ReasonOverBudget || !over && err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}
