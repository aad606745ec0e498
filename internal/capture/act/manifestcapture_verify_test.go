package act

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// TestAVerdictIsToldEveryTimeItIsTried: who tries again although there is a verdict hears of it each time, so that it is
// tried ever more seldom; and finds it tried again the next time.
func TestAVerdictIsToldEveryTimeItIsTried(t *testing.T) {
	point := &capturev1.ManifestCheckpoint{ObjectMeta: metav1.ObjectMeta{Name: checkpoint.Name(someRequest.UID), UID: "c1"}}
	point.Spec.Encryption = &capturev1.Encryption{KeyID: "2026"}
	a := newCapture(nil)
	a.Live = read.Live{Reader: serving(t, point)}
	verify := func() error {
		_, err := a.Act(t.Context(), someRequest, manifestcapture.StartVerifying{Moment: "100", Checkpoint: "c1", Keeper: "keeper"})
		for a.Work.Drive(t.Context()) > 0 {
		}
		return err
	}
	if err := verify(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := verify(); fsm.ClassOf(err) != fsm.Transient || !strings.Contains(fsm.StatusMessage(err), "keys does not exist") {
			t.Errorf("%v, said %q", err, fsm.StatusMessage(err))
		}
		if work := a.Work.Work(read.Key{Namespace: "shop", Name: "before"}); work.State != read.WorkEnded || work.Err == nil {
			t.Errorf("it was not tried again: %+v", work)
		}
	}
}
