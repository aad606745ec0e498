package observe

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/guard"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Rights asks what the requesters of requests may do.
type Rights struct {
	May read.May
	// Look is that of read.Policies.
	Look func(ctx context.Context) (guard.Verdict, error)
	// Accepted are keepers that were proven to be the manager's.
	Accepted *Accepted
}

// Question is whose rights are needed, and for what.
type Question struct {
	By    *meta.Requester
	Needs []request.Need
	// Made is when the request was made.
	Made metav1.Time
	// Keeping is its keeper. Only the manager makes those of requests, and only of requests that it has accepted, but
	// while the policies are missing anybody can who may make keepers. A status proves nothing: its writer may be anybody then.
	Keeping request.Keeping
}

// Ask asks for every right that is needed. A requester whom no policy has checked could be anybody: such a request is not
// accepted even if it needs no right, since its record would name somebody who never made it.
func (o Rights) Ask(ctx context.Context, q Question) (request.Rights, error) {
	kept := q.Keeping.Sight == presence.Here
	accepted := kept && o.Accepted.has(q.Keeping.UID)
	if accepted && len(q.Needs) == 0 {
		return request.Rights{Sight: request.Granted}, nil
	}
	verdict, err := o.Look(ctx)
	switch {
	case err != nil:
		return request.Rights{}, err
	case verdict.Gap != "" && kept && len(q.Needs) == 0:
		return request.Rights{Sight: request.Unproven, Why: verdict.Gap}, nil
	case verdict.Gap != "":
		return request.Rights{Sight: request.Unguarded, Why: verdict.Gap}, nil
	case !accepted && q.unchecked(verdict) != "":
		return request.Rights{Sight: request.Early, Why: q.unchecked(verdict)}, nil
	case kept:
		o.Accepted.add(q.Keeping.UID)
	}
	return o.review(ctx, q.By, q.Needs)
}

// unchecked says why nobody may have checked who made the request; "" is that the API server has. That holds for one that
// was accepted if its keeper is genuine.
func (q Question) unchecked(v guard.Verdict) string {
	if q.Keeping.Sight == presence.Here {
		return v.Interrupted("the request", q.Keeping.Made.Time)
	}
	return v.TooEarly("the request", q.Made.Time)
}

func (o Rights) review(ctx context.Context, by *meta.Requester, needs []request.Need) (request.Rights, error) {
	for _, need := range needs {
		access, err := o.May(ctx, by, need.Right)
		switch {
		case err != nil:
			return request.Rights{}, fmt.Errorf("ask whether the requester may %s %s: %w", need.Right.Verb, need.Right.Resource, err)
		case !access.Allowed:
			return request.Rights{Sight: request.Denied, Why: need.What + ", and " + access.Why}, nil
		}
	}
	return request.Rights{Sight: request.Granted}, nil
}

// Now asks for rights of this moment, of the requester of a request that was accepted.
func (o Rights) Now(ctx context.Context, by *meta.Requester, needs []request.Need) (request.Rights, error) {
	if len(needs) == 0 {
		return request.Rights{Sight: request.Granted}, nil
	}
	switch verdict, err := o.Look(ctx); {
	case err != nil:
		return request.Rights{}, err
	case verdict.Gap != "":
		return request.Rights{Sight: request.Unguarded, Why: verdict.Gap}, nil
	}
	return o.review(ctx, by, needs)
}
