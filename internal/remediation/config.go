package remediation

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/remediation/brake"
)

// Config is what the flags of the program say about the area.
type Config struct {
	// ActionImage performs built-in actions.
	ActionImage string
	// TTLCompleted and TTLFailed are how long after its end an execution is deleted; 0 is never.
	TTLCompleted, TTLFailed time.Duration
	// Audit is the database that records are appended to.
	Audit AuditConfig
	// Brakes keep executions from being released because of what others did.
	Brakes brake.Limits
}

// Defaults are those of the flags.
func Defaults() Config {
	const day = 24 * time.Hour
	return Config{ActionImage: "statecraft.local/action:dev", TTLCompleted: 30 * day, TTLFailed: 90 * day, Brakes: brake.Usual}
}
