package capture

import (
	"context"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/observe"
	"github.com/statecraft-dev/statecraft/internal/guard"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// allRights are those of a requester who may do everything. What becomes of others is tested on fakes, and on a
// whole API server.
func allRights() observe.Rights {
	return observe.Rights{
		May: func(context.Context, *meta.Requester, read.Right) (read.Access, error) {
			return read.Access{Allowed: true}, nil
		},
		Look: func(context.Context) (guard.Verdict, error) { return guard.Verdict{}, nil },
	}
}
