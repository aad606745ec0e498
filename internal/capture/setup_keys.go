package capture

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/statecraft-dev/statecraft/internal/capture/act"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// The keys of checkpoints are rewrapped.
//
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=manifestcheckpoints,verbs=list;patch

// keysEvery is how often it is looked whether another key became active, besides when the manager starts.
const keysEvery = time.Hour

func setupKeys(a *kube.Area, c Config) error {
	rewrapper := act.Rewrapper{Writer: a.Env.Writer("keys"), Live: a.Env.LiveReader(), KeysIn: c.Namespace}
	return a.Every("keys", keysEvery, func(ctx context.Context) error {
		did, err := rewrapper.Rewrap(ctx)
		if did.Done > 0 {
			log.FromContext(ctx).Info("checkpoints were rewrapped with the active key", "rewrapped", did.Done, "left", did.Left)
		}
		metricKeysLeft.Set(float64(did.Left))
		return err
	})
}
