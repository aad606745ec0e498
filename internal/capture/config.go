package capture

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// Config is what the operator of the area chose.
type Config struct {
	// Namespace is the product's own, in which the area keeps keys and holders of detached volumes. The process says it.
	Namespace string
	// NamespaceGrace is how long captures outlive a namespace that is deleted as a whole.
	NamespaceGrace time.Duration
	// TTLFailed and TTLSucceeded are how long after its end a capture is deleted; 0 is never.
	TTLFailed, TTLSucceeded time.Duration
	// RetentionMin is how long a capture outlives its request at least, RetentionMax for how long a request may ask; 0 is
	// not at all, and without a limit.
	RetentionMin, RetentionMax time.Duration
	// Captures is how many captures of a kind a namespace may keep; 0 is without a limit.
	Captures int
	// CheckpointBudget is how many bytes all checkpoints may hold, CheckpointShare how many those of one namespace; 0 is
	// without a limit.
	CheckpointBudget, CheckpointShare int64
}

// Defaults are what is chosen if nobody chooses.
func Defaults() Config {
	return Config{
		Namespace: kube.DefaultNamespace, NamespaceGrace: 168 * time.Hour, TTLFailed: 24 * time.Hour,
		RetentionMin: time.Hour, RetentionMax: 2160 * time.Hour, Captures: 500,
		CheckpointBudget: 512 << 20, // a quarter of what etcd holds unless it is told otherwise
		CheckpointShare:  256 << 20,
	}
}

func (c Config) terms() request.Terms {
	return request.Terms{Floor: c.RetentionMin, NamespaceGrace: c.NamespaceGrace}
}

func (c Config) limits() request.Limits {
	return request.Limits{Retention: c.RetentionMax, Captures: c.Captures}
}

func (c Config) budget() manifestcapture.Budget {
	return manifestcapture.Budget{All: c.CheckpointBudget, Namespace: c.CheckpointShare}
}
