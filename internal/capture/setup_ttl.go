package capture

import (
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
	return a.Every("ttl", scanner.Terms.Every(), scanner.Scan)
}
