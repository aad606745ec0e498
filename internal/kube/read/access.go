package read

import (
	"context"

	authorizationv1 "k8s.io/api/authorization/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// Right is something that a user may or may not do: a verb on a resource.
type Right = authorizationv1.ResourceAttributes

// May answers whether a user has a right, by the API server's word of this moment. A review
// stores nothing, so observers can be handed one. An error means that nobody knows.
type May func(ctx context.Context, who *meta.Requester, what Right) (Access, error)

// Access is the answer of a review.
type Access struct {
	Allowed bool
	// Why says who may not do what, in words for a status: the same review has the same words.
	Why string
}

// User is who somebody is, as the API server knows them.
type User struct {
	Name  string
	Extra map[string][]string
}
