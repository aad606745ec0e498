package capture

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// forged is what somebody would like to be.
var forged = meta.Requester{
	Username: "admin", UID: "0", Groups: []string{"system:masters"},
	Extra: map[string]meta.ExtraValue{harness.ExtraPodName: {"trusted"}},
}

// requesterOf is where a request says who made it.
func requesterOf(obj client.Object) **meta.Requester {
	switch r := obj.(type) {
	case *capturev1.VolumeCaptureRequest:
		return &r.Spec.Requester
	case *capturev1.VolumeRestoreRequest:
		return &r.Spec.Requester
	case *capturev1.ManifestCaptureRequest:
		return &r.Spec.Requester
	case *capturev1.ManifestRestoreRequest:
		return &r.Spec.Requester
	}
	return nil
}

func eachKind(namespace string) []client.Object {
	return []client.Object{
		snapshot(namespace, "data"), restore(namespace, source{request: "a"}),
		manifests(namespace, false), manifestRestore(namespace, "m", "", ""),
	}
}

func TestARequesterCannotBeForged(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	harness.Grant(t, c, "forger", namespace, requests)
	as := b.ConfigFor("forger", "guests", "evening-shift")
	forger, want := harness.ClientOf(t, as, c), harness.WhoAmI(t, as)
	if want.Username != "forger" || len(want.Groups) != 3 || len(want.Extra) == 0 {
		t.Fatalf("the API server takes the forger for %+v", want)
	}
	for _, obj := range eachKind(namespace) {
		for name, given := range map[string]*meta.Requester{"nothing": nil, "somebody else": &forged} {
			t.Run(fmt.Sprintf("%T with %s", obj, name), func(t *testing.T) {
				made := obj.DeepCopyObject().(client.Object)
				harness.Eventually(t, soon, poll, func() error {
					made = obj.DeepCopyObject().(client.Object)
					*requesterOf(made) = given
					return forger.Create(t.Context(), made, client.DryRunAll)
				})
				if diff := cmp.Diff(want, *requesterOf(made)); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestAForgedRequesterIsRefusedWhereNobodyStampsIt takes the stamping policy away, as a webhook
// that runs after it would.
func TestAForgedRequesterIsRefusedWhereNobodyStampsIt(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	if out, err := b.Kubectl(t.Context(), "delete", "mutatingadmissionpolicybinding", "requester.capture.statecraft.dev"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() { // the next test installs, and waits until it is in force
		path := filepath.Join(harness.Root(t), "config", "admission", area)
		if out, err := b.Kubectl(context.Background(), "apply", "-f", path); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	bound := bearing(b, "pod-a")
	for name, as := range map[string]*rest.Config{"a certificate": b.Config(), "a token of a pod": bound, "nothing extra": bearing(b, "")} {
		t.Run(name, func(t *testing.T) {
			user, is := harness.ClientOf(t, as, c), harness.WhoAmI(t, as)
			for field, forge := range map[string]func(*meta.Requester){
				"spec.requester must":        func(r *meta.Requester) { r.Username = "somebody" },
				"spec.requester.uid must":    func(r *meta.Requester) { r.UID = "0" },
				"spec.requester.groups must": func(r *meta.Requester) { r.Groups = append(r.Groups, "system:masters", "more") },
				"spec.requester.extra must":  func(r *meta.Requester) { r.Extra = harness.WhoAmI(t, bearing(b, "pod-b")).Extra },
			} {
				for _, obj := range eachKind(namespace) {
					given := is.DeepCopy()
					forge(given)
					*requesterOf(obj) = given
					harness.Eventually(t, soon, poll, func() error { return harness.Refused(t, user, obj, field) })
				}
			}
			for _, obj := range eachKind(namespace) {
				*requesterOf(obj) = is.DeepCopy()
				if err := harness.Accepted(t, user, obj); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// bearing is an administrator whose token is bound to a pod, as far as the API server can tell.
func bearing(b *bed.Bed, pod string) *rest.Config {
	as := b.Config()
	as.Impersonate = rest.ImpersonationConfig{UserName: "operator", Groups: []string{"system:masters"}}
	if pod != "" {
		as.Impersonate.Extra = map[string][]string{harness.ExtraPodName: {pod}, "example.com/shifts": {"early", "late"}}
	}
	return as
}

// TestTheManagerActsForOthers makes requests as the manager does for a restore of manifests: it has
// looked at the rights of the requester itself.
func TestTheManagerActsForOthers(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	harness.Grant(t, c, harness.User(area), namespace, requests)
	manager := harness.ClientAs(t, b, c, harness.User(area))
	objs := append(eachKind(namespace), restore(namespace, source{request: "a", namespace: "elsewhere"}), detach(namespace, "data"))
	for _, obj := range objs {
		harness.Eventually(t, soon, poll, func() error { return harness.Refused(t, manager, obj, "on whose behalf") })
		want := &meta.Requester{Username: "somebody", Groups: []string{"guests"}, Extra: forged.Extra}
		*requesterOf(obj) = want
		if err := manager.Create(t.Context(), obj, client.DryRunAll); err != nil {
			t.Errorf("%T: %v", obj, err)
		}
		if diff := cmp.Diff(want, *requesterOf(obj)); diff != "" {
			t.Error(diff)
		}
	}
}

// TestARequestCanBeAppliedAgain applies the same manifest twice, in both ways: who made it stays, and nothing changes.
func TestARequestCanBeAppliedAgain(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	for _, way := range []bool{false, true} {
		manifest := fmt.Sprintf("apiVersion: capture.statecraft.dev/v1alpha1\nkind: VolumeCaptureRequest\n"+
			"metadata: {name: again-%t, namespace: %s}\nspec: {target: {name: data}}\n", way, namespace)
		path := filepath.Join(t.TempDir(), "request.yaml")
		if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
			t.Fatal(err)
		}
		made := snapshot(namespace, "data")
		var first *capturev1.VolumeCaptureRequest
		for range 2 {
			if out, err := b.Kubectl(t.Context(), "apply", fmt.Sprintf("--server-side=%t", way), "-f", path); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if err := c.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: fmt.Sprintf("again-%t", way)}, made); err != nil {
				t.Fatal(err)
			}
			if made.Spec.Requester == nil || made.Spec.Requester.Username != "admin" {
				t.Errorf("made by %+v", made.Spec.Requester)
			}
			if first == nil {
				first = made.DeepCopy()
			}
		}
		first.ResourceVersion = made.ResourceVersion // the server writes the default status at the first chance
		if diff := cmp.Diff(first, made); diff != "" {
			t.Errorf("the second apply wrote something: %s", diff)
		}
		made.Spec.Requester = &forged
		if err := c.Update(t.Context(), made); err == nil {
			t.Error("a requester can be changed later")
		}
	}
}

// TestOnlyTheManagerWritesAStatus tries as a tenant to whom everything in its namespace is allowed.
func TestOnlyTheManagerWritesAStatus(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	everything := rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}
	harness.Grant(t, c, "owner", namespace, everything)
	harness.Grant(t, c, harness.User(area), namespace, everything)
	owner, manager := harness.ClientAs(t, b, c, "owner"), harness.ClientAs(t, b, c, harness.User(area))
	patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Succeeded"}}`))
	for _, obj := range eachKind(namespace) {
		create(t, c, obj)
		harness.Eventually(t, soon, poll, func() error {
			err := owner.Status().Patch(t.Context(), obj.DeepCopyObject().(client.Object), patch)
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "only the manager") {
				return fmt.Errorf("a tenant writes the status: %w", err)
			}
			return nil
		})
		harness.Eventually(t, soon, poll, func() error {
			return manager.Status().Patch(t.Context(), obj.DeepCopyObject().(client.Object), patch)
		})
	}
}

// TestATokenOfAPodIsAnotherRequester makes requests by tokens of two pods of one account: each is
// recorded with its own pod, and neither can claim to be the other.
func TestATokenOfAPodIsAnotherRequester(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	harness.Grant(t, c, "system:serviceaccount:"+namespace+":till", namespace, requests)
	mine, pod := harness.ConfigForPod(t, b, namespace, "till")
	theirs, _ := harness.ConfigForPod(t, b, namespace, "till")
	till := harness.ClientOf(t, mine, c)
	for _, obj := range eachKind(namespace) {
		made := obj
		harness.Eventually(t, soon, poll, func() error {
			made = obj.DeepCopyObject().(client.Object)
			*requesterOf(made) = harness.WhoAmI(t, theirs)
			return till.Create(t.Context(), made, client.DryRunAll)
		})
		if diff := cmp.Diff(harness.WhoAmI(t, mine), *requesterOf(made)); diff != "" {
			t.Error(diff)
		}
		if uid := (*requesterOf(made)).Extra[harness.ExtraPodUID]; len(uid) != 1 || uid[0] != string(pod.UID) {
			t.Errorf("made by a token of %v, want %s", uid, pod.UID)
		}
	}
}
