package manifestrestore

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// TestOldRequests: what was not begun in time is not begun, and what was goes on.
func TestOldRequests(t *testing.T) {
	in := input{Obj: newRequest(), World: newWorld(), Now: createdAt.Add(time.Hour)}
	in.Obj.Spec.NotAfter = &metav1.Time{Time: createdAt.Add(time.Minute)}
	if d := decidePending(in); d.On != Expired {
		t.Errorf("is begun by %s", d.On)
	}
	in.World.Keeping = request.Keeping{Sight: presence.Here, UID: "keeper"}
	if d := decidePending(in); d.On != Accepted {
		t.Errorf("ends by %s", d.On)
	}
}

func TestACheckpointOfAnotherIsNotRestored(t *testing.T) {
	in := input{Obj: newRequest(), World: newWorld(), Now: createdAt.Time}
	in.World.Source.Sight = Foreign
	if d := decideSource(in); d.On != Refused || d.Reason != capturev1.ReasonInvalidTarget {
		t.Errorf("%s %s", d.On, d.Reason)
	}
}

func TestNothingIsWrittenBlindly(t *testing.T) {
	spec := newRequest().Spec
	spec.ConflictPolicy = capturev1.ConflictSkip
	if why, _ := obstacle(spec, &Report{Blind: 1}); why != capturev1.ReasonForbidden {
		t.Errorf("goes on: %q", why)
	}
}
