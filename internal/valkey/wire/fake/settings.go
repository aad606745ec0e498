package fake

import (
	"context"

	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

var _ wire.Settler = (*Cluster)(nil)

// Settings implements wire.Settler. It knows those that were configured or set.
func (c *Cluster) Settings(_ context.Context, at wire.Target, names []string) (map[string]string, error) {
	settings := map[string]string{}
	err := c.tell(at, func(s *server) error {
		for _, name := range names {
			if value, known := s.settings[name]; known {
				settings[name] = value
			}
		}
		return nil
	})
	return settings, err
}
