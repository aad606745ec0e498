package capture

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

// policies changes the admission policies by kubectl, and puts them back when the test ends.
func policies(t *testing.T, b *bed.Bed, args ...string) {
	t.Helper()
	shipped := filepath.Join(harness.Root(t), "config", "admission", area)
	t.Cleanup(func() { // the next test installs, and waits until they are in force; one that was changed would have to be recorded, too
		if out, err := b.Kubectl(context.Background(), "replace", "--force", "-f", shipped); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
	kubectl(t, b, args...)
}

func kubectl(t *testing.T, b *bed.Bed, args ...string) string {
	t.Helper()
	out, err := b.Kubectl(t.Context(), args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// conditionsOf are those of a request.
func conditionsOf(obj client.Object) []metav1.Condition {
	switch r := obj.(type) {
	case *capturev1.VolumeCaptureRequest:
		return r.Status.Conditions
	case *capturev1.VolumeRestoreRequest:
		return r.Status.Conditions
	case *capturev1.ManifestCaptureRequest:
		return r.Status.Conditions
	case *capturev1.ManifestRestoreRequest:
		return r.Status.Conditions
	}
	return nil
}

// refusedFor waits until a request has ended for this reason, with these very words.
func refusedFor(t *testing.T, c client.Client, obj client.Object, reason fsm.Reason, words string) {
	t.Helper()
	harness.Eventually(t, soon, poll, func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
			return err
		}
		ready := apimeta.FindStatusCondition(conditionsOf(obj), fsm.Ready)
		if ready == nil {
			return fmt.Errorf("%T %s has not ended", obj, obj.GetName())
		}
		if ready.Status != metav1.ConditionFalse || ready.Reason != string(reason) || ready.Message != words {
			t.Fatalf("%T %s ended %s: %s\nwant %s: %s", obj, obj.GetName(), ready.Reason, ready.Message, reason, words)
		}
		return nil
	})
}

// victim is a namespace with a captured ConfigMap.
func victim(t *testing.T, b *bed.Bed, c client.Client) (namespace string, taken *capturev1.ManifestCaptureRequest) {
	t.Helper()
	namespace = bedtest.Namespace(t, b)
	tenant(t, c, namespace)
	create(t, c, configMap(namespace, "prices"))
	taken = mcr(namespace, "nightly", capturev1.ManifestCaptureRequestSpec{Targets: []capturev1.ManifestTarget{{Resource: "configmaps", Name: "prices"}}})
	create(t, c, taken)
	succeeded(t, c, taken)
	return namespace, taken
}

// attacks are requests for what is another tenant's, each with a requester who may have everything.
func attacks(here, there string, taken *capturev1.ManifestCaptureRequest) []client.Object {
	all := []client.Object{
		manifestRestore(here, taken.Name, there, ""), manifestRestore(here, "", "", taken.Status.CheckpointRef.Name),
		restore(here, source{request: "a", namespace: there}), restore(here, source{content: "c"}), restore(here, source{volume: "v"}),
		rehearsal(here), detach(here, "data"), manifests(here, true),
	}
	for i, obj := range all {
		obj.SetName(fmt.Sprintf("steal-%d", i))
		*requesterOf(obj) = forged.DeepCopy()
	}
	return all
}

// TestAForgedRequesterGetsNothingWithoutThePolicies: the policies were never installed, or somebody removed them.
func TestAForgedRequesterGetsNothingWithoutThePolicies(t *testing.T) {
	s := newScene(t)
	m := product.NewManager(t, s.bed, area)
	m.Start()
	there, taken := victim(t, s.bed, s.c)
	harness.Grant(t, s.c, "mallory", s.namespace, requests)
	mallory := harness.ClientAs(t, s.bed, s.c, "mallory")
	policies(t, s.bed, "delete", "-f", filepath.Join(harness.Root(t), "config", "admission", area))

	const gap = "ValidatingAdmissionPolicy artifacts.capture.statecraft.dev is missing"
	for _, obj := range attacks(s.namespace, there, taken) {
		attempt := obj
		harness.Eventually(t, soon, poll, func() error { // the API server forgets policies within a second
			attempt = obj.DeepCopyObject().(client.Object)
			if err := mallory.Create(t.Context(), attempt); err != nil {
				return err
			}
			if by := *requesterOf(attempt); by == nil || by.Username != forged.Username {
				return fmt.Errorf("the requester is still stamped: %+v, %w", by, s.c.Delete(t.Context(), attempt))
			}
			return nil
		})
		refusedFor(t, s.c, attempt, capturev1.ReasonPolicyMissing,
			gap+", so the API server did not check who made the request; let the platform team install the chart of the manager's version again (helm upgrade), then make another request.")
	}
	if s.uidOf(&corev1.ConfigMap{}, "prices") != "" {
		t.Error("a ConfigMap of another tenant was restored")
	}
	harness.Eventually(t, soon, poll, func() error {
		if !strings.Contains(m.Log(), gap) {
			return fmt.Errorf("the log does not say that %s", gap)
		}
		return nil
	})
	own := manifests(s.namespace, false) // what needs no right of the requester is refused as well: nobody knows whose it is
	own.Spec = capturev1.ManifestCaptureRequestSpec{Targets: []capturev1.ManifestTarget{{Resource: "configmaps", Name: "kube-root-ca.crt"}}}
	tenant(t, s.c, s.namespace)
	create(t, s.c, own)
	refusedFor(t, s.c, own, capturev1.ReasonPolicyMissing,
		gap+", so the API server did not check who made the request; let the platform team install the chart of the manager's version again (helm upgrade), then make another request.")
}

// TestAWeakenedPolicyProtectsNobody: the binding is there, and only warns.
func TestAWeakenedPolicyProtectsNobody(t *testing.T) {
	s := newScene(t)
	product.NewManager(t, s.bed, area).Start()
	there, taken := victim(t, s.bed, s.c)
	policies(t, s.bed, "patch", "validatingadmissionpolicybinding", "requester.capture.statecraft.dev", "--type=merge",
		"-p", `{"spec":{"validationActions":["Warn"]}}`)
	r := manifestRestore(s.namespace, taken.Name, there, "")
	create(t, s.c, r)
	refusedFor(t, s.c, r, capturev1.ReasonPolicyMissing,
		"ValidatingAdmissionPolicyBinding requester.capture.statecraft.dev is not the one that is shipped, so the API server did not "+
			"check who made the request; let the platform team install the chart of the manager's version again (helm upgrade), then make another request.")
}

// TestAPolicyDoesNotVouchForTheTimeBefore: the request was made while there was no policy, and waited for the manager.
func TestAPolicyDoesNotVouchForTheTimeBefore(t *testing.T) {
	s := newScene(t)
	m := product.NewManager(t, s.bed, area)
	m.Start()
	there, taken := victim(t, s.bed, s.c)
	m.Stop()
	shipped := filepath.Join(harness.Root(t), "config", "admission", area)
	policies(t, s.bed, "delete", "-f", shipped)
	r := forge(t, s.c, func() client.Object { return manifestRestore(s.namespace, taken.Name, there, "") })
	harness.Install(t, s.bed, area)
	m.Start()
	madeBefore(t, s.c, r)
}

// TestAPolicyThatWasWeakenedAndRestoredDoesNotVouch: a binding leaves out every namespace for a while, by an edit that is
// taken back, and the manager is not there to see it. Nothing but the generation tells.
func TestAPolicyThatWasWeakenedAndRestoredDoesNotVouch(t *testing.T) {
	s := newScene(t)
	m := product.NewManager(t, s.bed, area)
	m.Start()
	there, taken := victim(t, s.bed, s.c)
	m.Stop()
	const binding = "validatingadmissionpolicybinding/requester.capture.statecraft.dev"
	state := func() string {
		return kubectl(t, s.bed, "get", binding, "--show-managed-fields", "-o", "jsonpath={.spec} {.metadata.managedFields}")
	}
	before := state()
	policies(t, s.bed, "delete", "mutatingadmissionpolicybinding", "requester.capture.statecraft.dev") // it only stamps
	kubectl(t, s.bed, "patch", binding, "--field-manager=kubectl-edit", "--type=merge",
		"-p", `{"spec":{"matchResources":{"namespaceSelector":{"matchLabels":{"no":"where"}}}}}`)
	r := forge(t, s.c, func() client.Object { return manifestRestore(s.namespace, taken.Name, there, "") })
	kubectl(t, s.bed, "patch", binding, "--field-manager=kubectl-edit", "--type=merge", "-p", `{"spec":{"matchResources":null}}`)
	if after := state(); after != before {
		t.Fatalf("the binding can be seen to have changed:\n%s\n%s", before, after)
	}
	m.Start()
	madeBefore(t, s.c, r)
}

// forge stores a request in the name of somebody else, as soon as no policy forbids it.
func forge(t *testing.T, c client.Client, request func() client.Object) (r client.Object) {
	t.Helper()
	harness.Eventually(t, soon, poll, func() error {
		r = request()
		*requesterOf(r) = forged.DeepCopy()
		if err := c.Create(t.Context(), r); err != nil {
			return err
		}
		if by := *requesterOf(r); by == nil || by.UID != forged.UID {
			return fmt.Errorf("the requester is still stamped: %w", c.Delete(t.Context(), r))
		}
		return nil
	})
	return r
}

// madeBefore waits until a request was refused because it is older than the policies.
func madeBefore(t *testing.T, c client.Client, r client.Object) {
	t.Helper()
	harness.Eventually(t, soon, poll, func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(r), r); err != nil {
			return err
		}
		ready := apimeta.FindStatusCondition(conditionsOf(r), fsm.Ready)
		if ready == nil {
			return fmt.Errorf("it is %s", phaseOf(r))
		}
		if ready.Reason != string(capturev1.ReasonMadeTooEarly) || !strings.Contains(ready.Message, "was not in force yet when the request was made") {
			t.Fatalf("it ended %s: %s", ready.Reason, ready.Message)
		}
		return nil
	})
}

// TestARightThatWasTakenAwayStopsARequestThatWaits: restores are accepted while their captures go on, and the right
// to restore them is withdrawn before those end.
func TestARightThatWasTakenAwayStopsARequestThatWaits(t *testing.T) {
	s := newScene(t)
	product.NewManager(t, s.bed, area).Start()
	there := bedtest.Namespace(t, s.bed)
	tenant(t, s.c, there)
	create(t, s.c, claim(there, "data")) // nothing binds it
	volume := snapshot(there, "data")
	manifests := mcr(there, "nightly", capturev1.ManifestCaptureRequestSpec{
		Targets: []capturev1.ManifestTarget{{Resource: "persistentvolumeclaims", Name: "data"}},
		Volumes: []capturev1.ManifestVolume{{Claim: "data", VolumeCaptureRequest: volume.Name}},
	})
	create(t, s.c, volume)
	create(t, s.c, manifests)

	harness.Grant(t, s.c, "clerk", s.namespace, requests)
	harness.Grant(t, s.c, "clerk", there, harness.Rule("restore", capturev1.GroupName, "manifestcapturerequests", manifests.Name),
		harness.Rule("restore", capturev1.GroupName, "volumecapturerequests", volume.Name))
	clerk := harness.ClientAs(t, s.bed, s.c, "clerk")
	mrr, vrr := manifestRestore(s.namespace, manifests.Name, there, ""), restore(s.namespace, source{request: volume.Name, namespace: there})
	for obj, phase := range map[client.Object]string{mrr: "Preparing", vrr: "Pending"} {
		harness.Eventually(t, soon, poll, func() error { return client.IgnoreAlreadyExists(clerk.Create(t.Context(), obj)) })
		harness.Eventually(t, soon, poll, func() error {
			if err := s.c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
				return err
			}
			if is := phaseOf(obj); is != phase {
				return fmt.Errorf("%T is %s: %v", obj, is, conditionsOf(obj))
			}
			return nil
		})
	}
	if err := s.c.DeleteAllOf(t.Context(), &rbacv1.RoleBinding{}, client.InNamespace(there)); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, soon, poll, func() error { return harness.Refused(t, clerk, again(mrr), "may not restore") })
	for _, obj := range []client.Object{volume, manifests} { // a change of the source wakes who waits for it
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"touched":"yes"}}}`))
		if err := s.c.Patch(t.Context(), obj, patch); err != nil {
			t.Fatal(err)
		}
	}
	const ask = "; ask an administrator for that right, and make another request."
	refusedFor(t, s.c, mrr, capturev1.ReasonForbidden, "The source is not of this namespace, and clerk may not restore "+
		"manifestcapturerequests.capture.statecraft.dev nightly of namespace "+there+ask)
	refusedFor(t, s.c, vrr, capturev1.ReasonForbidden, "The source is not of this namespace, and clerk may not restore "+
		"volumecapturerequests.capture.statecraft.dev "+volume.Name+" of namespace "+there+ask)
}

func phaseOf(obj client.Object) string {
	switch r := obj.(type) {
	case *capturev1.VolumeRestoreRequest:
		return string(r.Status.Phase)
	case *capturev1.ManifestRestoreRequest:
		return string(r.Status.Phase)
	}
	return ""
}

// again is the same request once more.
func again(r *capturev1.ManifestRestoreRequest) *capturev1.ManifestRestoreRequest {
	same := &capturev1.ManifestRestoreRequest{ObjectMeta: named(r.Namespace, r.Name+"-again")}
	same.Spec.Source = r.Spec.Source
	return same
}
