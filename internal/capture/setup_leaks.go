package capture

import (
	"context"
	"fmt"
	"time"

	"github.com/statecraft-dev/statecraft/internal/capture/leaks"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// The search for leaks only lists.
//
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=manifestcheckpoints;manifestcheckpointcontentchunks,verbs=list
// +kubebuilder:rbac:groups=snapshot.storage.k8s.io,resources=volumesnapshotcontents,verbs=list
// +kubebuilder:rbac:groups="",resources=persistentvolumes,verbs=list
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=list

// leaksEvery is how often leaks are looked for: they cost money, not data.
const leaksEvery = 15 * time.Minute

func setupLeaks(a *kube.Area, c Config) error {
	metricCheckpointBudget.Set(float64(c.CheckpointBudget))
	watch := &leakWatch{gatherer: leaks.Gatherer{Live: a.Env.LiveReader(), Namespace: c.Namespace}, now: a.Env.Now}
	return a.Every("leaks", leaksEvery, watch.look)
}

// leakWatch tells of leaks by metrics.
type leakWatch struct {
	gatherer leaks.Gatherer
	now      func() time.Time
	before   []leaks.Leak
}

// look takes an inventory. One that is not whole proves nothing: what it lacks would look lost.
func (w *leakWatch) look(ctx context.Context) error {
	inv, err := w.gatherer.Look(ctx)
	if err != nil {
		return fmt.Errorf("take inventory: %w", err)
	}
	metricCheckpointBytes.Set(float64(inv.CheckpointBytes()))
	found := leaks.Find(inv, w.now(), leaks.Patience)
	metricLeaks.Reset()
	for _, l := range leaks.Lasting(w.before, found) {
		metricLeaks.WithLabelValues(string(l.Kind), string(l.Reason)).Inc()
	}
	w.before = found
	return nil
}
