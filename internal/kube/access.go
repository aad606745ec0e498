package kube

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// May asks the API server what users may do.
func (e Env) May() read.May { return reviewAccess(e.Client) }

// reviewAccess asks as the whole user: without groups and extra the answer is that of somebody
// else. A requester that nobody recorded may do nothing.
func reviewAccess(c client.Client) read.May {
	return func(ctx context.Context, who *meta.Requester, what read.Right) (read.Access, error) {
		if who == nil || who.Username == "" {
			return read.Access{Why: "the object does not say who requested it, because no admission policy recorded it, so nothing is allowed"}, nil
		}
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: who.Username, UID: who.UID, Groups: who.Groups, Extra: extraOf(who), ResourceAttributes: &what,
		}}
		if err := c.Create(ctx, review); err != nil {
			return read.Access{}, fmt.Errorf("review access of %s: %w", who.Username, err)
		}
		if review.Status.Allowed && !review.Status.Denied {
			return read.Access{Allowed: true}, nil
		}
		return read.Access{Why: denial(who, what, review.Status)}, nil
	}
}

func extraOf(who *meta.Requester) map[string]authorizationv1.ExtraValue {
	if len(who.Extra) == 0 {
		return nil
	}
	extra := map[string]authorizationv1.ExtraValue{}
	for key, values := range who.Extra {
		extra[key] = authorizationv1.ExtraValue(values)
	}
	return extra
}

// denial is worded as the policies of admission word theirs. An authorizer that could not ask
// everything says so, because then the missing right may not be what is wrong.
func denial(who *meta.Requester, what read.Right, said authorizationv1.SubjectAccessReviewStatus) string {
	words := []string{who.Username, "may not", what.Verb, what.Resource}
	if what.Group != "" {
		words[3] += "." + what.Group
	}
	if what.Subresource != "" {
		words[3] += "/" + what.Subresource
	}
	if what.Name != "" {
		words = append(words, what.Name)
	}
	if what.Namespace != "" {
		words = append(words, "of namespace", what.Namespace)
	}
	why := strings.Join(words, " ")
	if said.Denied && said.Reason != "" {
		why += ": " + steady(said.Reason)
	}
	if said.EvaluationError != "" {
		why += " (not every authorizer could be asked: " + steady(said.EvaluationError) + ")"
	}
	return why
}
