package act

import (
	"context"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
)

// AskRights asks for rights of a requester. Jobs ask by themselves: they may begin long after they were decided upon.
type AskRights func(ctx context.Context, by *meta.Requester, needs []request.Need) (request.Rights, error)
