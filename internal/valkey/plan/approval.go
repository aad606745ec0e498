package plan

import (
	"crypto/sha256"
	"fmt"
	"strings"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// tokenLength is enough to tell one plan from the next, and short enough to be typed.
const tokenLength = 10

// Token names what a person may approve by all that is in it: approved is that and nothing
// else, so an approval does not outlive what it was given for.
func Token(what ...string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(what, "/"))))[:tokenLength]
}

// Approve is the command by which a person approves a token.
func Approve(resource, namespace, name, token string) string {
	return fmt.Sprintf("kubectl annotate %s -n %s %s --overwrite %s=%s", resource, namespace, name, valkeyv1.ApproveAnnotation, token)
}
