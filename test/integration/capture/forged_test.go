package capture

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

// allOfIt is what a tenant may do in a namespace of his own: a status is part of it.
var allOfIt = rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}

// forgery is a request that bears another's name, and the status that its author wrote.
type forgery struct {
	request client.Object
	status  map[string]any
}

// forgeries are requests that seem to be accepted, or further.
func forgeries(here, there string, taken *capturev1.ManifestCaptureRequest) (all []forgery) {
	theirs := map[string]any{
		"apiVersion": capturev1.GroupVersion.String(), "kind": "ManifestCheckpoint",
		"name": taken.Status.CheckpointRef.Name, "uid": string(taken.Status.CheckpointRef.UID),
	}
	volume := map[string]any{"driver": "disks.example.com", "snapshotHandle": "theirs"}
	for _, phase := range []string{"Preparing", "Planning", "Applying", "Verifying", "CleaningUp"} {
		all = append(all, forgery{manifestRestore(here, taken.Name, there, ""), map[string]any{"phase": phase, "checkpointRef": theirs}})
	}
	for _, phase := range []string{"Preparing", "Restoring", "Rehearsing"} {
		all = append(all, forgery{restore(here, source{content: "theirs"}), map[string]any{"phase": phase, "source": volume}})
	}
	for _, phase := range []string{"Preparing", "Reading", "Writing"} {
		all = append(all, forgery{manifests(here, false), map[string]any{"phase": phase, "resourceVersion": taken.Status.ResourceVersion}})
	}
	for _, phase := range []string{"Preparing", "Capturing"} {
		all = append(all, forgery{snapshot(here, "data"), map[string]any{"phase": phase}})
	}
	for i, f := range all {
		f.request.SetName(fmt.Sprintf("forged-%d", i))
		*requesterOf(f.request) = forged.DeepCopy()
	}
	return all
}

// TestAForgedStatusGetsNothing: a tenant makes requests in the name of an administrator while there are no policies, and
// lets their status say that they were accepted. The manager comes when the policies are there.
func TestAForgedStatusGetsNothing(t *testing.T) {
	s := newScene(t)
	m := product.NewManager(t, s.bed, area)
	m.Start()
	there, taken := victim(t, s.bed, s.c)
	m.Stop()
	harness.Grant(t, s.c, "mallory", s.namespace, allOfIt)
	mallory := harness.ClientAs(t, s.bed, s.c, "mallory")
	policies(t, s.bed, "delete", "-f", filepath.Join(harness.Root(t), "config", "admission", area))
	all := forgeries(s.namespace, there, taken)
	for i := range all {
		all[i].request = forge(t, mallory, func() client.Object { return all[i].request.DeepCopyObject().(client.Object) })
		status, err := json.Marshal(map[string]any{"status": all[i].status})
		if err != nil {
			t.Fatal(err)
		}
		if err := mallory.Status().Patch(t.Context(), all[i].request, client.RawPatch(types.MergePatchType, status)); err != nil {
			t.Fatal(err)
		}
	}
	harness.Install(t, s.bed, area)
	m.Start()
	for _, f := range all {
		endsTooEarly(t, s, f)
	}
	if s.uidOf(&corev1.ConfigMap{}, "prices") != "" {
		t.Error("a ConfigMap of another tenant was restored")
	}
}

// endsTooEarly waits until a forged request was refused, and looks that nothing was made for it.
func endsTooEarly(t *testing.T, s *scene, f forgery) {
	t.Helper()
	harness.Eventually(t, soon, poll, func() error {
		if err := s.c.Get(t.Context(), client.ObjectKeyFromObject(f.request), f.request); err != nil {
			return err
		}
		ready := apimeta.FindStatusCondition(conditionsOf(f.request), fsm.Ready)
		if ready == nil {
			return fmt.Errorf("%T from %s has not ended", f.request, f.status["phase"])
		}
		if ready.Status != metav1.ConditionFalse || ready.Reason != string(capturev1.ReasonMadeTooEarly) {
			t.Errorf("%T from %s ended %s: %s", f.request, f.status["phase"], ready.Reason, ready.Message)
		}
		return nil
	})
	if s.uidOf(&capturev1.ObjectKeeper{}, request.KeeperName(f.request.GetUID())) != "" {
		t.Errorf("%T from %s was accepted", f.request, f.status["phase"])
	}
}
