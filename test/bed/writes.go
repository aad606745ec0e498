package bed

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed/internal/audit"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// Write is one write that the API server has answered, stored or refused (see Code). Dry runs and access
// reviews are not writes.
type Write = audit.Write

// Writes returns what the user has written since a moment, oldest answer first; all users' for "". A write
// whose answer has reached its client is in the result; requests that are still being answered are waited for.
func (b *Bed) Writes(since time.Time, user string) ([]Write, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout.Command)
	defer cancel()
	all, err := b.audit.Writes(ctx, since)
	if err != nil {
		return nil, fmt.Errorf("read writes: %w", err)
	}
	return keep(all, func(w Write) bool { return user == "" || w.User == user }), nil
}

// WithoutElections leaves out what a leader election writes: Leases, by a client that says what it is for. Leases
// that a controller writes for other ends stay.
func WithoutElections(writes []Write) []Write {
	return keep(writes, func(w Write) bool {
		election := w.Resource == "leases" && strings.HasSuffix(w.UserAgent, "/leader-election")
		return !election
	})
}

// CountWrites counts writes by what was done to what: "patch valkeyclusters.valkey.example/status".
func CountWrites(writes []Write) map[string]int {
	counts := map[string]int{}
	for _, w := range writes {
		what := w.Verb + " " + w.Resource
		if w.Group != "" {
			what += "." + w.Group
		}
		if w.Subresource != "" {
			what += "/" + w.Subresource
		}
		counts[what]++
	}
	return counts
}

func keep(writes []Write, wanted func(Write) bool) []Write {
	var kept []Write
	for _, w := range writes {
		if wanted(w) {
			kept = append(kept, w)
		}
	}
	return kept
}
