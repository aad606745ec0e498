package action

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// State is how far the execution was that wrote a token.
type State string

// The states that a token has. An action of one write is done with that write.
const (
	Started State = "started"
	Done    State = "done"
)

// Token is the value of the annotation that an execution leaves on its target.
func Token(execution types.UID, s State) string { return string(execution) + "/" + string(s) }

// WithToken is a patch that leaves the token, too: the same write proves that it was made.
func WithToken(patch map[string]any, execution types.UID, s State) map[string]any {
	return Apply(patch, nest(Token(execution, s), "metadata", "annotations", remediationv1.TokenAnnotation))
}

// ReadToken is the state in the token of an execution; "" if the target does not bear one of it.
func ReadToken(target map[string]any, execution types.UID) State {
	value, _ := Path{"metadata", "annotations", remediationv1.TokenAnnotation}.of(target)
	token, _ := value.(string)
	uid, state, _ := strings.Cut(token, "/")
	switch s := State(state); {
	case execution == "", uid != string(execution):
	case s == Started, s == Done:
		return s
	}
	return ""
}

// Aimed is a patch that the API server applies to that very object, in whatever version it is.
func Aimed(patch map[string]any, uid types.UID) map[string]any {
	return Apply(patch, nest(map[string]any{"uid": string(uid)}, "metadata"))
}

// Preconditioned is a patch that the API server applies to that very object in that very version,
// and refuses otherwise.
func Preconditioned(patch map[string]any, uid types.UID, resourceVersion string) map[string]any {
	return Apply(patch, nest(map[string]any{"uid": string(uid), "resourceVersion": resourceVersion}, "metadata"))
}
