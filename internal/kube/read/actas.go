package read

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

const serviceAccountPrefix = "system:serviceaccount:"

// workloads are the kinds whose controllers make pods, as whichever account their template names.
var workloads = []schema.GroupResource{
	{Group: "apps", Resource: "deployments"}, {Group: "apps", Resource: "statefulsets"}, {Group: "apps", Resource: "daemonsets"},
	{Group: "apps", Resource: "replicasets"}, {Group: "batch", Resource: "jobs"}, {Group: "batch", Resource: "cronjobs"},
	{Resource: "replicationcontrollers"},
}

// MayActAs says that a user may act as a ServiceAccount: by impersonation, with a token of it, or from a pod of its
// namespace, which a controller may make for him. The built-in role edit may all of that. It is false for a user who is
// no ServiceAccount.
func MayActAs(ctx context.Context, may May, who *meta.Requester, user string) (bool, error) {
	namespace, name, is := strings.Cut(strings.TrimPrefix(user, serviceAccountPrefix), ":")
	if !is || !strings.HasPrefix(user, serviceAccountPrefix) {
		return false, nil
	}
	rights := []Right{
		{Verb: "impersonate", Resource: "serviceaccounts", Namespace: namespace, Name: name},
		{Verb: "impersonate:serviceaccount", Group: "authentication.k8s.io", Resource: "serviceaccounts", Namespace: namespace, Name: name},
		{Verb: "create", Resource: "serviceaccounts", Subresource: "token", Namespace: namespace, Name: name},
		{Verb: "create", Resource: "pods", Namespace: namespace},
		{Verb: "create", Resource: "pods", Subresource: "exec", Namespace: namespace},
		{Verb: "patch", Resource: "pods", Subresource: "ephemeralcontainers", Namespace: namespace},
		{Verb: "update", Resource: "pods", Subresource: "ephemeralcontainers", Namespace: namespace},
		{Verb: "create", Resource: "secrets", Namespace: namespace}, // of the type that gets a token of an account
	}
	for _, kind := range workloads {
		for _, verb := range []string{"create", "patch", "update"} {
			rights = append(rights, Right{Verb: verb, Group: kind.Group, Resource: kind.Resource, Namespace: namespace})
		}
	}
	for _, right := range rights {
		if access, err := may(ctx, who, right); err != nil || access.Allowed {
			return access.Allowed, err
		}
	}
	return false, nil
}
