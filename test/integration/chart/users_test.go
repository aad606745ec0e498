package chart

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// verbs are those of the API, and ours.
var verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "restore", "*"}

// withRequests is what each of Kubernetes' own roles may do with requests of area capture. Whoever may do anything with checkpoints, chunks or
// keepers, or restore, has it from another role.
var withRequests = map[string][]string{
	"view":  {"get", "list", "watch"},
	"edit":  {"get", "list", "watch", "create", "delete"},
	"admin": {"get", "list", "watch", "create", "delete"},
}

// people is an API server with the chart, and a user for each of the roles, everywhere.
type people struct {
	release
	client kubernetes.Interface
}

func newPeople(t *testing.T) people {
	t.Helper()
	p := people{release: newRelease(t, "people")}
	p.must("install")
	var err error
	if p.client, err = kubernetes.NewForConfig(p.bed.Config()); err != nil {
		t.Fatal(err)
	}
	for role := range withRequests {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: p.user(role)},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: p.user(role)}},
		}
		if _, err := p.client.RbacV1().ClusterRoleBindings().Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = p.client.RbacV1().ClusterRoleBindings().Delete(context.WithoutCancel(t.Context()), binding.Name, metav1.DeleteOptions{})
		})
	}
	return p
}

func (p people) user(role string) string { return p.namespace + "-" + role }

// may asks the API server what a user may do with a resource, all of its objects.
func (p people) may(role, verb string, r apiResource) bool {
	p.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: p.user(role),
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: verb, Group: r.group, Version: "v1alpha1", Resource: r.name, Subresource: r.sub, Namespace: p.namespace,
		},
	}}
	answer, err := p.client.AuthorizationV1().SubjectAccessReviews().Create(p.Context(), review, metav1.CreateOptions{})
	if err != nil {
		p.Fatal(err)
	}
	return answer.Status.Allowed
}

// apiResource is one of ours, or a part of it.
type apiResource struct{ group, name, sub string }

// served are all resources of ours that the API server has.
func (p people) served() (all []apiResource) {
	p.Helper()
	harness.Eventually(p, timeout.Wait, poll, func() error {
		all = nil
		_, lists, err := p.client.Discovery().ServerGroupsAndResources()
		for _, list := range lists {
			group, _, _ := strings.Cut(list.GroupVersion, "/")
			if !strings.HasSuffix(group, ".statecraft.dev") {
				continue
			}
			for _, r := range list.APIResources {
				name, sub, _ := strings.Cut(r.Name, "/")
				all = append(all, apiResource{group, name, sub})
			}
		}
		for _, name := range []string{"manifestcheckpoints", "manifestcheckpointcontentchunks", "objectkeepers", "valkeyclusters"} {
			if !slices.ContainsFunc(all, func(r apiResource) bool { return r.name == name }) {
				return fmt.Errorf("%s are not served yet: %w", name, err)
			}
		}
		return err
	})
	return all
}

// TestPeopleGetNoArtifacts: Kubernetes' own roles, which users of namespaces have, give no right to what was captured, to what
// keeps it, or to restore what another namespace captured.
func TestPeopleGetNoArtifacts(t *testing.T) {
	p := newPeople(t)
	all := p.served()
	for role := range withRequests { // the controller manager has put our rules into these roles
		for _, r := range []apiResource{{"capture.statecraft.dev", "volumecapturerequests", ""}, {"valkey.statecraft.dev", "valkeyclusters", ""}} {
			harness.Eventually(t, timeout.Wait, poll, func() error {
				if !p.may(role, "list", r) || role != "view" && !p.may(role, "create", r) {
					return fmt.Errorf("%s has no right to %v yet", role, r)
				}
				return nil
			})
		}
		for _, r := range all {
			allowed := slices.DeleteFunc(slices.Clone(verbs), func(verb string) bool { return !p.may(role, verb, r) })
			p.checkRights(role, r, allowed)
		}
	}
}

// checkRights compares what a role may do with a resource with what it should.
func (p people) checkRights(role string, r apiResource, allowed []string) {
	p.Helper()
	if slices.Contains(allowed, "restore") || slices.Contains(allowed, "*") {
		p.Errorf("%s may restore by %+v: %v", role, r, allowed)
	}
	var want []string
	if strings.HasSuffix(r.name, "requests") && r.sub == "" {
		want = withRequests[role]
	}
	if r.group == "capture.statecraft.dev" && !slices.Equal(allowed, want) {
		p.Errorf("%s may %v %+v, want %v", role, allowed, r, want)
	}
}
