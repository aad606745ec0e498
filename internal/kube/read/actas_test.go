package read

import (
	"context"
	"testing"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// TestMayActAs: each way to act as a ServiceAccount is asked about, for that account and its namespace.
func TestMayActAs(t *testing.T) {
	const bot = "system:serviceaccount:shop:bot"
	for name, tc := range map[string]struct {
		user string
		has  *Right
		may  bool
	}{
		"nothing":                              {user: bot},
		"impersonation":                        {bot, &Right{Verb: "impersonate", Resource: "serviceaccounts", Namespace: "shop", Name: "bot"}, true},
		"constrained impersonation":            {bot, &Right{Verb: "impersonate:serviceaccount", Group: "authentication.k8s.io", Resource: "serviceaccounts", Namespace: "shop", Name: "bot"}, true},
		"a token":                              {bot, &Right{Verb: "create", Resource: "serviceaccounts", Subresource: "token", Namespace: "shop", Name: "bot"}, true},
		"pods":                                 {bot, &Right{Verb: "create", Resource: "pods", Namespace: "shop"}, true},
		"a shell":                              {bot, &Right{Verb: "create", Resource: "pods", Subresource: "exec", Namespace: "shop"}, true},
		"a Deployment":                         {bot, &Right{Verb: "create", Group: "apps", Resource: "deployments", Namespace: "shop"}, true},
		"the template of a CronJob":            {bot, &Right{Verb: "patch", Group: "batch", Resource: "cronjobs", Namespace: "shop"}, true},
		"a controller of the core group":       {bot, &Right{Verb: "update", Resource: "replicationcontrollers", Namespace: "shop"}, true},
		"a container beside its own":           {bot, &Right{Verb: "patch", Resource: "pods", Subresource: "ephemeralcontainers", Namespace: "shop"}, true},
		"a Secret with a token":                {bot, &Right{Verb: "create", Resource: "secrets", Namespace: "shop"}, true},
		"a Deployment of another namespace":    {bot, &Right{Verb: "create", Group: "apps", Resource: "deployments", Namespace: "else"}, false},
		"pods of another namespace":            {bot, &Right{Verb: "create", Resource: "pods", Namespace: "else"}, false},
		"a person, whoever may run pods there": {"dora", &Right{Verb: "create", Resource: "pods", Namespace: "shop"}, false},
	} {
		ask := func(_ context.Context, _ *meta.Requester, what Right) (Access, error) {
			return Access{Allowed: tc.has != nil && what == *tc.has}, nil
		}
		if may, err := MayActAs(t.Context(), ask, &meta.Requester{Username: "olga"}, tc.user); err != nil || may != tc.may {
			t.Errorf("%s: %t, %v", name, may, err)
		}
	}
}
