package kube

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

var ann = &meta.Requester{
	Username: "ann", UID: "u1", Groups: []string{"shop", "system:authenticated"},
	Extra: map[string]meta.ExtraValue{"authentication.kubernetes.io/pod-name": {"till"}},
}

// reviewer answers every review with one status, and notes what was asked.
func reviewer(t *testing.T, says authorizationv1.SubjectAccessReviewStatus, err error) (read.May, *authorizationv1.SubjectAccessReviewSpec) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := authorizationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	asked := &authorizationv1.SubjectAccessReviewSpec{}
	hooks := interceptor.Funcs{Create: func(_ context.Context, _ client.WithWatch, obj client.Object, _ ...client.CreateOption) error {
		review := obj.(*authorizationv1.SubjectAccessReview)
		*asked, review.Status = review.Spec, says
		return err
	}}
	return Env{Client: fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(hooks).Build()}.May(), asked
}

func TestAccess(t *testing.T) {
	secrets := read.Right{Verb: "get", Resource: "secrets", Namespace: "shop"}
	for name, tc := range map[string]struct {
		who  *meta.Requester
		what read.Right
		says authorizationv1.SubjectAccessReviewStatus
		want read.Access
	}{
		"allowed": {ann, secrets, authorizationv1.SubjectAccessReviewStatus{Allowed: true, Reason: "RBAC: allowed"}, read.Access{Allowed: true}},
		"nobody granted it": {ann, secrets, authorizationv1.SubjectAccessReviewStatus{},
			read.Access{Why: "ann may not get secrets of namespace shop"}},
		"one object of a group": {ann, read.Right{Verb: "restore", Group: "capture.statecraft.dev", Resource: "volumecapturerequests", Namespace: "shop", Name: "a"},
			authorizationv1.SubjectAccessReviewStatus{}, read.Access{Why: "ann may not restore volumecapturerequests.capture.statecraft.dev a of namespace shop"}},
		"a subresource of the cluster": {ann, read.Right{Verb: "patch", Resource: "nodes", Subresource: "status"},
			authorizationv1.SubjectAccessReviewStatus{}, read.Access{Why: "ann may not patch nodes/status"}},
		"denied, and told why": {ann, secrets, authorizationv1.SubjectAccessReviewStatus{Denied: true, Reason: "frozen since 2026-11-17T20:00:00Z."},
			read.Access{Why: "ann may not get secrets of namespace shop: frozen since …"}},
		"denied and allowed": {ann, secrets, authorizationv1.SubjectAccessReviewStatus{Denied: true, Allowed: true},
			read.Access{Why: "ann may not get secrets of namespace shop"}},
		"an authorizer was silent": {ann, secrets, authorizationv1.SubjectAccessReviewStatus{EvaluationError: "dial tcp 10.0.0.1:443: no route"},
			read.Access{Why: "ann may not get secrets of namespace shop (not every authorizer could be asked: dial tcp …: no route)"}},
		"a requester without a name":     {&meta.Requester{Groups: ann.Groups}, secrets, authorizationv1.SubjectAccessReviewStatus{Allowed: true}, read.Access{Why: "the object does not say who requested it, because no admission policy recorded it, so nothing is allowed"}},
		"a requester nobody wrote down":  {nil, secrets, authorizationv1.SubjectAccessReviewStatus{Allowed: true}, read.Access{Why: "the object does not say who requested it, because no admission policy recorded it, so nothing is allowed"}},
		"allowed although one is silent": {ann, secrets, authorizationv1.SubjectAccessReviewStatus{Allowed: true, EvaluationError: "dangling"}, read.Access{Allowed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			may, _ := reviewer(t, tc.says, nil)
			got, err := may(t.Context(), tc.who, tc.what)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAReviewIsOfTheWholeUser(t *testing.T) {
	may, asked := reviewer(t, authorizationv1.SubjectAccessReviewStatus{Allowed: true}, nil)
	what := read.Right{Verb: "get", Resource: "secrets", Namespace: "shop"}
	if _, err := may(t.Context(), ann, what); err != nil {
		t.Fatal(err)
	}
	want := &authorizationv1.SubjectAccessReviewSpec{
		User: "ann", UID: "u1", Groups: ann.Groups, ResourceAttributes: &what,
		Extra: map[string]authorizationv1.ExtraValue{"authentication.kubernetes.io/pod-name": {"till"}},
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
}

func TestAReviewThatFailsAllowsNothing(t *testing.T) {
	broken := errors.New("no review today")
	may, _ := reviewer(t, authorizationv1.SubjectAccessReviewStatus{Allowed: true}, broken)
	if got, err := may(t.Context(), ann, read.Right{Verb: "get"}); !errors.Is(err, broken) || got != (read.Access{}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestImpersonate(t *testing.T) {
	cfg := &rest.Config{Host: "https://example.com", BearerToken: "ours"}
	as, err := Impersonate(cfg, ann)
	if err != nil {
		t.Fatal(err)
	}
	want := rest.ImpersonationConfig{
		UserName: "ann", UID: "u1", Groups: ann.Groups, Extra: map[string][]string{"authentication.kubernetes.io/pod-name": {"till"}},
	}
	if diff := cmp.Diff(want, as.Impersonate); diff != "" {
		t.Error(diff)
	}
	if as.BearerToken != "ours" || cfg.Impersonate.UserName != "" {
		t.Errorf("the manager's own config became %+v", cfg)
	}
	account, err := Impersonate(cfg, Account("shop", "till"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rest.ImpersonationConfig{UserName: "system:serviceaccount:shop:till"}, account.Impersonate); diff != "" {
		t.Error(diff)
	}
	for _, nobody := range []*meta.Requester{nil, {}, {Groups: []string{"system:masters"}}} {
		if as, err := Impersonate(cfg, nobody); err == nil {
			t.Errorf("%+v acts as %+v", nobody, as.Impersonate)
		}
		if _, err := (Impersonator{Config: cfg}).Reader(nobody); err == nil {
			t.Errorf("%+v reads as the manager", nobody)
		}
	}
}
