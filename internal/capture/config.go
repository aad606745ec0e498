package capture

import "time"

// Config is what the operator of the area chose.
type Config struct {
	// Namespace is where the area keeps what is its own: keys, holders of detached volumes.
	Namespace string
	// NamespaceGrace is how long captures outlive a namespace that is deleted as a whole.
	NamespaceGrace time.Duration
	// TTLFailed and TTLSucceeded are how long after its end a capture is deleted; 0 is never.
	TTLFailed, TTLSucceeded time.Duration
	// CheckpointBudget is how many bytes all checkpoints should hold at most; more raises an alert.
	CheckpointBudget int64
}

// Defaults are what is chosen if nobody chooses.
func Defaults() Config {
	return Config{
		Namespace: "statecraft-system", NamespaceGrace: 168 * time.Hour, TTLFailed: 24 * time.Hour,
		CheckpointBudget: 512 << 20, // a quarter of what etcd holds unless it is told otherwise
	}
}
