package kube

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Self asks the API server who this process is. The review stores nothing.
func (e Env) Self(ctx context.Context) (read.User, error) {
	review := &authenticationv1.SelfSubjectReview{}
	if err := e.Client.Create(ctx, review); err != nil {
		return read.User{}, fmt.Errorf("ask who the manager is: %w", err)
	}
	who := read.User{Name: review.Status.UserInfo.Username, Extra: map[string][]string{}}
	for key, values := range review.Status.UserInfo.Extra {
		who.Extra[key] = values
	}
	return who, nil
}
