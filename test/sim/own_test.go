package sim_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/test/sim"
)

// What is the story's own is read from what was written, and the story ends as it did.
func TestWhatIsOwnIsKnown(t *testing.T) {
	s := toySubject(sound)
	s.Own = []schema.GroupVersionKind{orderKind}
	report, err := sim.NewLab(t, controlPlane(t), s).Run(t.Context(), sim.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if report.Tried == 0 || report.Tried != report.Total {
		t.Errorf("tried %d of %d plans", report.Tried, report.Total)
	}
	for _, d := range report.Divergences {
		t.Errorf("%s: %s", d.Plan, d.Why)
	}
}

// What others write as well is not the story's own, and the run without faults says so.
func TestWhatOthersWriteIsNotOwn(t *testing.T) {
	b := controlPlane(t)
	other, err := client.New(b.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := toySubject(sound)
	s.Own = []schema.GroupVersionKind{orderKind}
	open := s.Open
	s.Open = func(w *sim.World) *sim.Play {
		play := open(w)
		place := play.Steps[0].Do
		play.Steps[0].Do = func(ctx context.Context) error {
			need := &corev1.ConfigMap{}
			need.Namespace, need.Name = w.Namespace, "need"
			return errors.Join(place(ctx), other.Patch(ctx, need, client.RawPatch("application/merge-patch+json", []byte(`{"data":{"a":"b"}}`))))
		}
		return play
	}
	_, err = sim.NewLab(t, b, s).Run(t.Context(), sim.Options{})
	if err == nil || !strings.Contains(err.Error(), "was written by others") {
		t.Errorf("a write of somebody else: %v", err)
	}
}
