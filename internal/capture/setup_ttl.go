package capture

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/statecraft-dev/statecraft/internal/capture/ttl"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// The scanner lists and deletes.
//
// +kubebuilder:rbac:groups=capture.statecraft.dev,resources=volumecapturerequests;manifestcapturerequests,verbs=list;delete

// NewScanner builds what deletes requests that ended long ago. Restores have no term: what
// they made is the user's, and an applied restore that vanished would be applied again.
func NewScanner(e kube.Env, c Config) ttl.Scanner {
	return ttl.Scanner{
		Live: e.LiveReader(), Delete: e.Writer("ttl").Delete, Now: e.Now,
		Mine: e.Shard.Has, Namespaces: e.Namespaces,
		Terms: ttl.Terms{Failed: c.TTLFailed, Succeeded: c.TTLSucceeded},
		Gone:  func(kind string) { metricDeletions.WithLabelValues(kind).Inc() },
	}
}

func setupTTL(a *kube.Area, c Config) error {
	scanner := NewScanner(a.Env, c)
	if !scanner.Terms.Ever() {
		return nil
	}
	err := a.Run(func(ctx context.Context) error {
		return regularly(ctx, scanner.Terms.Every(), "ttl", scanner.Scan)
	})
	if err != nil {
		return fmt.Errorf("run scanner of old requests: %w", err)
	}
	return nil
}

// regularly looks at once and then every so often, for as long as this process leads. A look
// that fails is counted, and the next one makes up for it.
func regularly(ctx context.Context, every time.Duration, name string, look func(context.Context) error) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	metricLookErrors.WithLabelValues(name) // it begins at 0, or the first error would be no increase
	for {
		if err := look(ctx); err != nil && ctx.Err() == nil {
			metricLookErrors.WithLabelValues(name).Inc()
			log.FromContext(ctx).Error(err, "look through the cluster", "look", name)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
