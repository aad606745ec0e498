package cluster

import (
	"testing"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// What is done about passwords and certificates, and what is said of it.
func TestAccess(t *testing.T) {
	const prints, starts = "aaaa-bbbb", "cccc"
	for name, tc := range map[string]struct {
		change   func(c *valkeyv1.ValkeyCluster, w *World)
		want     string // the effect
		loaded   bool   // of which
		reason   string
		recorded string // credentials afterwards
	}{
		"all is as it should be": {func(*valkeyv1.ValkeyCluster, *World) {}, "", false, "AccessApplied", prints},
		"nothing was read":       {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Access = Access{} }, "", false, "", prints},
		"other passwords are given": {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Access.Print, w.Access.Work = "dddd-bbbb", "" },
			"apply-access", true, "ApplyingAccess", prints},
		"other certificates are given": {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Access.Print, w.Access.Work = "aaaa-dddd", "" },
			"apply-access", false, "ApplyingAccess", prints},
		"they are on their way": {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Access.Print, w.Access.Work = "aaaa-dddd", Moving },
			"", false, "ApplyingAccess", prints},
		"they came there": {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Access.Print = "aaaa-dddd" }, "", false, "ApplyingAccess", "aaaa-dddd"},
		"a server has started, perhaps with older files": {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Access.Work = "" },
			"apply-access", true, "AccessApplied", prints},
		"a server has started, and does not answer yet": {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Access.Work, w.Nodes[2].Server = "", nil },
			"", false, "AccessApplied", prints},
		"other certificates are given while one is silent": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Access.Print, w.Access.Work, w.Nodes[2].Server = "aaaa-dddd", "", nil
		}, "apply-access", false, "ApplyingAccess", prints},
		"they came to all but that one": {func(_ *valkeyv1.ValkeyCluster, w *World) { w.Access.Print, w.Nodes[2].Server = "aaaa-dddd", nil },
			"", false, "ApplyingAccess", prints},
		"one cannot start: the files are gone": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Access.Work, w.Access.Unstaged, w.Nodes[2].Server = "", true, nil
		}, "apply-access", true, "AccessApplied", prints},
		"the cluster is new": {func(c *valkeyv1.ValkeyCluster, w *World) { c.Status.Credentials, w.Access.Work = "", "" },
			"apply-access", true, "ApplyingAccess", ""},
		"new passwords of the operator's own are asked for": {func(c *valkeyv1.ValkeyCluster, _ *World) { c.Spec.Auth.Rotation = 1 },
			"change-passwords", false, "ApplyingAccess", prints},
		"they are asked for while a change is on its way": {func(c *valkeyv1.ValkeyCluster, w *World) { c.Spec.Auth.Rotation, w.Access.Work = 1, Moving },
			"", false, "ApplyingAccess", prints},
		"what the user brings cannot be": {func(_ *valkeyv1.ValkeyCluster, w *World) {
			w.Access.Doubt = "Secret web-tls: certificates are not fit for use"
		},
			"", false, "CredentialsMissing", prints},
	} {
		t.Run(name, func(t *testing.T) {
			c, w := newCluster(), clone(made()[len(made())-1].world)
			c.Spec.Auth, c.Status.Credentials = &valkeyv1.Auth{SecretName: "web-app"}, prints
			w.Access = Access{Print: prints, Rotation: "0", Starts: starts, Work: Ended}
			tc.change(c, &w)
			in := input{Obj: c, World: w}
			got, loaded := "", false
			for _, e := range applyAccess(in) {
				got += e.String()
				if apply, is := e.(ApplyAccess); is {
					loaded = apply.Loaded
				}
			}
			if got != tc.want || loaded != tc.loaded {
				t.Errorf("%q %v, want %q %v", got, loaded, tc.want, tc.loaded)
			}
			if condition, _ := accessCondition(in); condition.Reason != tc.reason {
				t.Errorf("%s, want %s", condition.Reason, tc.reason)
			}
			if noteAccess(c, w); c.Status.Credentials != tc.recorded {
				t.Errorf("recorded %q, want %q", c.Status.Credentials, tc.recorded)
			}
		})
	}
}
