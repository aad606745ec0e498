package act

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
)

// TestWordsShowNoValues: the API server quotes what it refuses, and a status is read by many.
func TestWordsShowNoValues(t *testing.T) {
	const canary = "canary"
	item := func(kind string) manifestrestore.Item {
		return manifestrestore.Item{Outline: manifestrestore.Outline{Key: manifestrestore.Key{Kind: kind, Name: "a"}}}
	}
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "Secret"}, "a", field.ErrorList{field.Invalid(field.NewPath("data", "key"), canary, "no")})
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "a", errString("policy dislikes "+canary))
	for what, c := range map[string]struct {
		kind  string
		err   error
		want  string
		shows bool
	}{
		"an invalid Secret":            {"Secret", invalid, "data.key FieldValueInvalid", false},
		"an invalid object":            {"ConfigMap", invalid, "data.key FieldValueInvalid", false},
		"a Secret that a policy holds": {"Secret", forbidden, "answers Forbidden", false},
		"a Role that would escalate":   {"Role", forbidden, "ServiceAccount statecraft-capture of namespace shop", true},
		"no answer of the API server":  {"Role", errString(canary), "refuses", false},
	} {
		j := &restoreJob{request: &capturev1.ManifestRestoreRequest{}}
		j.request.Namespace = "shop"
		got := j.words(item(c.kind), c.err)
		if !strings.Contains(got, c.want) || strings.Contains(got, canary) != c.shows {
			t.Errorf("%s: %q", what, got)
		}
	}
}

type errString string

func (e errString) Error() string { return string(e) }
