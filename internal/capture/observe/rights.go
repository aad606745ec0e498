package observe

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/guard"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Guard looks whether the admission policies are those that are shipped. It reads live: what is not in
// force any more protects nothing.
type Guard struct {
	Live    read.Live
	Shipped guard.Shipped
}

// shippedLabel is on all policies and bindings that are shipped.
var shippedLabel = read.Labels{"app.kubernetes.io/part-of": "statecraft"}

// Gap says what is wrong with them, or was when a request was made; "" is nothing.
func (g Guard) Gap(ctx context.Context, made *metav1.Time) (string, error) {
	var policies admissionv1.ValidatingAdmissionPolicyList
	if err := g.Live.List(ctx, &policies, shippedLabel); err != nil {
		return "", fmt.Errorf("list admission policies: %w", err)
	}
	var bindings admissionv1.ValidatingAdmissionPolicyBindingList
	if err := g.Live.List(ctx, &bindings, shippedLabel); err != nil {
		return "", fmt.Errorf("list bindings of admission policies: %w", err)
	}
	is := guard.Live{Policies: policies.Items, Bindings: bindings.Items}
	if made == nil {
		return g.Shipped.Gap(is), nil
	}
	return g.Shipped.GapAt(is, made.Time), nil
}

// Rights asks what the requesters of requests may do.
type Rights struct {
	May read.May
	// Gap is that of a Guard.
	Gap func(ctx context.Context, made *metav1.Time) (string, error)
}

// Question is whose rights are needed, and for what.
type Question struct {
	By    *meta.Requester
	Needs []request.Need
	// Made is when the request was made; nil if it was accepted before.
	Made *metav1.Time
}

// accepting is when a request was made that has not begun. Whether the policies looked at one that has is known.
func accepting(r metav1.Object, k request.Keeping) *metav1.Time {
	if k.Sight == presence.Here {
		return nil
	}
	made := r.GetCreationTimestamp()
	return &made
}

// Ask asks for every right that is needed. A requester whom no policy has checked could be anybody.
func (o Rights) Ask(ctx context.Context, q Question) (request.Rights, error) {
	if len(q.Needs) == 0 {
		return request.Rights{Sight: request.Granted}, nil
	}
	switch gap, err := o.Gap(ctx, q.Made); {
	case err != nil:
		return request.Rights{}, err
	case gap != "":
		return request.Rights{Sight: request.Unguarded, Why: gap}, nil
	}
	for _, need := range q.Needs {
		access, err := o.May(ctx, q.By, need.Right)
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
	return o.Ask(ctx, Question{By: by, Needs: needs})
}
