package harness

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// WhoAmI asks the API server whom it takes the user of a config for.
func WhoAmI(t testing.TB, cfg *rest.Config) *meta.Requester {
	t.Helper()
	c, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	review, err := c.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("ask who I am: %v", err)
	}
	is := review.Status.UserInfo
	who := &meta.Requester{Username: is.Username, UID: is.UID, Groups: is.Groups}
	for key, values := range is.Extra {
		if who.Extra == nil {
			who.Extra = map[string]meta.ExtraValue{}
		}
		who.Extra[key] = meta.ExtraValue(values)
	}
	return who
}
