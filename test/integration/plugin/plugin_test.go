// Package plugin tests `kubectl statecraft` on a real API server, as users with few rights run it.
package plugin

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/plugin"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func TestMain(m *testing.M) { harness.Main(m) }

const poll = 100 * time.Millisecond // between two looks

const pausedWords = "The cluster is paused; unset spec.paused to continue."

// stage is an API server with the kinds of one area, and no manager.
type stage struct {
	*bed.Bed
	admin     client.Client
	namespace string
}

func newStage(t *testing.T) stage {
	t.Helper()
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, "valkey")
	return stage{b, harness.Client(t, b, valkeyv1.AddToScheme), bedtest.Namespace(t, b)}
}

func (s stage) create(t *testing.T, obj client.Object) {
	t.Helper()
	if err := s.admin.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

// cluster makes one, with the status that a manager would have written.
func (s stage) cluster(t *testing.T, name string, p meta.Progress) *valkeyv1.ValkeyCluster {
	t.Helper()
	c := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	s.create(t, c)
	p.ObservedGeneration, p.MachineHash = c.Generation, cluster.Machine.Hash()
	c.Status.Progress = p
	if err := s.admin.Status().Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c
}

func progress(phase fsm.Phase, ready metav1.ConditionStatus, reason fsm.Reason, words string) meta.Progress {
	since := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	p := meta.Progress{
		Place: meta.Place{Phase: phase, Since: since}, Reason: reason,
		Conditions: []metav1.Condition{{Type: fsm.Ready, Status: ready, Reason: string(reason), Message: words, LastTransitionTime: since}},
	}
	if ready != metav1.ConditionTrue {
		p.WaitingFor = words
	}
	return p
}

// run runs the program as a user.
func (s stage) run(t *testing.T, user string, args ...string) (code int, out string) {
	t.Helper()
	file, err := s.KubeconfigFor(user)
	if err != nil {
		t.Fatal(err)
	}
	var text, problems strings.Builder
	args = append(args, "--kubeconfig", file, "-n", s.namespace, "--cache-dir", filepath.Join(t.TempDir(), "cache"))
	code = plugin.Run(t.Context(), args, &text, &problems)
	for _, line := range strings.Split(text.String(), "\n") {
		trimmed := strings.TrimSpace(line)
		if n := len([]rune(line)); n > 80 && !strings.HasPrefix(trimmed, "\"") && !strings.HasPrefix(line, "  kubectl ") {
			t.Errorf("%v: %d columns: %s", args, n, line)
		}
	}
	return code, text.String() + problems.String()
}

// says runs the program until it says all of it and ends so; rights take a moment to be known.
func (s stage) says(t *testing.T, user string, code int, words []string, args ...string) string {
	t.Helper()
	var last string
	harness.Eventually(t, timeout.Wait, poll, func() error {
		is, out := s.run(t, user, args...)
		last = strings.Join(strings.Fields(out), " ")
		for _, w := range words {
			if !strings.Contains(last, w) {
				return fmt.Errorf("does not say %q:\n%s", w, out)
			}
		}
		if is != code {
			return fmt.Errorf("ends with %d, want %d:\n%s", is, code, out)
		}
		return nil
	})
	return last
}

// viewer is a user who may view the namespace, and nothing else.
func (s stage) viewer(t *testing.T) string {
	t.Helper()
	user := "viewer-" + s.namespace
	s.create(t, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "viewers"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	})
	return user
}

// Who may view a namespace gets all of it, and writes nothing.
func TestAViewerGetsItAll(t *testing.T) {
	s := newStage(t)
	began, user := time.Now(), s.viewer(t)
	web := s.cluster(t, "web", progress(cluster.Pending, metav1.ConditionFalse, cluster.ReasonPaused, pausedWords))
	s.cluster(t, "well", progress(cluster.Running, metav1.ConditionTrue, "ClusterHealthy", "All 6 nodes are ready, and all 16384 slots are served."))
	s.warn(t, web)
	s.children(t, web)

	s.says(t, user, plugin.NotAsWished, []string{
		"ValkeyCluster " + s.namespace + "/web is not as wished: phase Pending", "Paused: " + pausedWords, "Acts the owner of the object",
		"Read on: docs/runbooks/valkey.md#paused", "ResourcesApplied leads to Creating", "NotThere: Nobody is there.",
		"You may not read Lease statecraft-system/statecraft-valkey",
	}, "why", "vkc/web")
	s.says(t, user, plugin.AsWished, []string{"is as wished: phase Running", "Nothing is awaited; no person needs to act."}, "why", "ValkeyCluster", "well")
	s.says(t, user, plugin.NotAsWished, []string{"Waiting " + pausedWords, "Conditions Ready=False Paused", "Children", "Service/web", "ConfigMap/web"},
		"status", "valkeyclusters.valkey.statecraft.dev/web")
	overview := s.says(t, user, plugin.NotAsWished, []string{"web False Pending", "well True Running", "1 of 2 objects are as wished."}, "status")
	for _, kind := range []string{"ManifestCaptureRequest", "VolumeCaptureRequest"} {
		if strings.Count(overview, kind) > 1 {
			t.Errorf("%s is mentioned more than once: %s", kind, overview)
		}
	}
	s.says(t, user, plugin.NotAsWished, []string{`"reason": "Paused"`, `"acts": [ "the owner of the object" ]`}, "why", "vkc/web", "-o", "json")
	s.says(t, user, plugin.CouldNotLook, []string{`is no kind of Statecraft`}, "why", "pod/web")
	s.says(t, user, plugin.CouldNotLook, []string{`"gone" not found`}, "why", "vkc/gone")
	s.wroteNothing(t, began, user)
}

// Who may get the one object alone gets what it says, and hears what is missing.
func TestGetIsEnough(t *testing.T) {
	s := newStage(t)
	began, user := time.Now(), "clerk-"+s.namespace
	s.cluster(t, "web", progress(cluster.Pending, metav1.ConditionFalse, cluster.ReasonPaused, pausedWords))
	harness.Grant(t, s.admin, user, s.namespace, harness.Rule("get", valkeyv1.GroupVersion.Group, "valkeyclusters", "web"))
	s.says(t, user, plugin.NotAsWished, []string{
		"Paused: " + pausedWords, "Acts the owner of the object", "You may not list events in namespace " + s.namespace, "You may not read Lease",
	}, "why", "vkc/web")
	s.says(t, user, plugin.NotAsWished, []string{"You may not list pods in namespace " + s.namespace + ", so they are left out."}, "status", "vkc/web")
	s.says(t, user, plugin.CouldNotLook, []string{"is forbidden"}, "status")
	s.says(t, user, plugin.CouldNotLook, []string{"is forbidden"}, "status", "-A")
	s.wroteNothing(t, began, user)
}

// A manager that does not run is seen by its Lease, wherever Statecraft is installed.
func TestADeadManagerIsSeen(t *testing.T) {
	s := newStage(t)
	user := s.viewer(t)
	s.cluster(t, "web", progress(cluster.WaitingForPods, metav1.ConditionFalse, cluster.ReasonPodsStarting, "Waiting for every server to answer."))
	harness.Grant(t, s.admin, user, s.namespace, harness.Rule("get", "coordination.k8s.io", "leases"))
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "statecraft-valkey"},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: ptr.To("gone"), LeaseDurationSeconds: ptr.To[int32](15),
			RenewTime: ptr.To(metav1.NewMicroTime(time.Now().Add(-10 * time.Minute))),
		},
	}
	s.create(t, lease)
	in := "--system-namespace=" + s.namespace
	s.says(t, user, plugin.NotAsWished, []string{
		"Acts the platform team", "No manager of area valkey leads since", "nothing changes until one does.",
	}, "why", "vkc/web", in)
	lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(time.Now().Add(time.Minute)))
	if err := s.admin.Update(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	if out := s.says(t, user, plugin.NotAsWished, []string{"Acts Statecraft"}, "why", "vkc/web", in); strings.Contains(out, "Manager") {
		t.Errorf("a manager that leads is worth no word: %s", out)
	}
}

// warn tells a warning about a cluster.
func (s stage) warn(t *testing.T, about *valkeyv1.ValkeyCluster) {
	t.Helper()
	now := metav1.Now()
	s.create(t, &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "warning"}, Type: corev1.EventTypeWarning,
		InvolvedObject: corev1.ObjectReference{Kind: "ValkeyCluster", Namespace: s.namespace, Name: about.Name, UID: about.UID},
		Reason:         "NotThere", Message: "Nobody is there.", FirstTimestamp: now, LastTimestamp: now, Count: 1,
	})
}

// children makes objects that belong to a cluster.
func (s stage) children(t *testing.T, of *valkeyv1.ValkeyCluster) {
	t.Helper()
	owned := metav1.ObjectMeta{
		Namespace: s.namespace, Name: of.Name, Labels: map[string]string{valkeyv1.ClusterLabel: of.Name},
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(of, valkeyv1.GroupVersion.WithKind("ValkeyCluster"))},
	}
	s.create(t, &corev1.Service{ObjectMeta: owned, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 6379}}}})
	s.create(t, &corev1.ConfigMap{ObjectMeta: owned, Data: map[string]string{"a": "b"}})
}

// wroteNothing looks into the audit log of the API server.
func (s stage) wroteNothing(t *testing.T, since time.Time, user string) {
	t.Helper()
	writes, err := s.Writes(since, user)
	if err != nil || len(writes) > 0 {
		t.Errorf("%s wrote %v: %v", user, bed.CountWrites(writes), err)
	}
}
