package volumerestore

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

var orders = strings.Repeat("one order after the other\n", 4000)

// TestVolumeRestore restores on a real CSI driver, by the real restorer. Its parts run one
// after the other: faults of the driver are everybody's.
func TestVolumeRestore(t *testing.T) {
	s := newStorage(t)
	for _, part := range []struct {
		name string
		run  func(*testing.T, *storage, string)
	}{
		{"a snapshot is restored byte by byte", restoresASnapshot},
		{"a claim that exists is not touched", touchesNoClaim},
		{"a class that waits for a pod", waitsForAPod},
		{"a quota shows before storage is spent", heedsQuotas},
		{"a rehearsal leaves nothing", rehearsalLeavesNothing},
		{"a detached volume is moved once", movesOnce},
		{"a namespace that was deleted comes back by one request", comesBack},
		{"the restorer is killed at every step", survivesKills},
		{"answers of the driver are lost", survivesLostAnswers},
		{"a driver that fails ends the request that wants it so", endsWithTheDriver},
		{"a driver that recovers ends nothing", waitsForTheDriver},
		{"a request that is deleted half way leaves nothing", deletedHalfWay},
		{"a restorer makes volumes of its own driver only", makesOwnVolumesOnly},
		{"a restorer is elected and shows metrics", isElected},
	} {
		if !t.Run(part.name, func(t *testing.T) {
			t.Cleanup(s.csi.Proxy().Clear)
			part.run(t, s, bedtest.Namespace(t, s.bed))
		}) {
			return // the next would only say the same again
		}
	}
}

func restoresASnapshot(t *testing.T, s *storage, namespace string) {
	s.capture(t, namespace, capturev1.Snapshot, orders)
	since := time.Now()
	r := restoreOf(namespace, "back", bed.CSIClass)
	s.create(t, r)
	s.ended(t, r, capturev1.ReasonCompleted)
	s.holds(t, namespace, "back", orders)
	s.nothingLeaks(t)
	took := time.Since(since)

	claim := &corev1.PersistentVolumeClaim{}
	if err := s.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "back"}, claim); err != nil {
		t.Fatal(err)
	}
	if len(claim.OwnerReferences) > 0 || r.Status.PVCRef == nil || r.Status.PVCRef.UID != claim.UID {
		t.Errorf("the claim is not the user's: %+v, %+v", claim.OwnerReferences, r.Status.PVCRef)
	}
	for user, want := range map[string]map[string]int{
		harness.User(area): {"create objectkeepers.capture.statecraft.dev": 1, "patch volumerestorerequests.capture.statecraft.dev/status": 3},
		// Its progress is saved in the intent when the driver is about to be asked, and when it has answered; the
		// save after the intent was removed finds none.
		restorerUser: {"create persistentvolumeclaims": 1, "create configmaps": 1, "create persistentvolumes": 1, "patch configmaps": 3, "delete configmaps": 1},
	} {
		writes, err := s.bed.Writes(since, user)
		if err != nil {
			t.Fatal(err)
		}
		counts := bed.CountWrites(bed.WithoutElections(writes))
		delete(counts, "create events.events.k8s.io")
		delete(counts, "patch objectkeepers.capture.statecraft.dev/status") // the keeper's own
		t.Logf("%s, in %s: %v", user, took.Round(10*time.Millisecond), counts)
		for what, n := range want {
			if counts[what] != n {
				t.Errorf("%s: %d × %s, not %d", user, counts[what], what, n)
			}
		}
	}
	// With the request everything of ours goes, and the claim stays.
	if err := s.client.Delete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	harness.Consistently(t, 3*time.Second, poll, func() error { return s.client.Get(t.Context(), client.ObjectKeyFromObject(claim), claim) })
	s.holds(t, namespace, "back", orders)
}

func touchesNoClaim(t *testing.T, s *storage, namespace string) {
	s.capture(t, namespace, capturev1.Snapshot, orders)
	r := restoreOf(namespace, "data", bed.CSIClass)
	s.create(t, r)
	s.ended(t, r, capturev1.ReasonNameTaken)
	small := restoreOf(namespace, "small", bed.CSIClass)
	small.Spec.VolumeClaimTemplate.Spec.Resources = size("1Mi")
	s.create(t, small)
	s.ended(t, small, capturev1.ReasonTooSmall)
	nowhere := restoreOf(namespace, "nowhere", bed.CSIClass)
	nowhere.Spec.Source.VolumeCaptureRequest.Name = "weekly"
	s.create(t, nowhere)
	s.ended(t, nowhere, capturev1.ReasonNotFound)
	s.holds(t, namespace, "data", orders)
	s.nothingLeaks(t)
}

func waitsForAPod(t *testing.T, s *storage, namespace string) {
	s.capture(t, namespace, capturev1.Snapshot, orders)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + namespace}}
	s.create(t, node)
	t.Cleanup(func() { _ = s.client.Delete(context.WithoutCancel(t.Context()), node) })
	calls := s.csi.Proxy().Calls("CreateVolume")
	r := restoreOf(namespace, "back", bed.CSIWaitClass)
	s.create(t, r)
	claim := s.claimed(t, r)
	harness.Consistently(t, 2*time.Second, poll, func() error {
		if n := s.csi.Proxy().Calls("CreateVolume"); n != calls {
			return fmt.Errorf("a volume was made before a pod needed it")
		}
		return nil
	})
	harness.Eventually(t, soon, poll, func() error {
		if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(claim), claim); err != nil {
			return err
		}
		metav1.SetMetaDataAnnotation(&claim.ObjectMeta, restorer.SelectedNode, node.Name)
		return s.client.Update(t.Context(), claim)
	})
	s.ended(t, r, capturev1.ReasonCompleted)
	s.holds(t, namespace, "back", orders)
	s.nothingLeaks(t)
}

// claimed waits for the claim of a request.
func (s *storage) claimed(t *testing.T, r *capturev1.VolumeRestoreRequest) *corev1.PersistentVolumeClaim {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: r.Spec.VolumeClaimTemplate.Name}}
	harness.Eventually(t, storageTakes, poll, func() error { return s.client.Get(t.Context(), client.ObjectKeyFromObject(claim), claim) })
	return claim
}

func heedsQuotas(t *testing.T, s *storage, namespace string) {
	s.capture(t, namespace, capturev1.Snapshot, orders)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "few"}}
	quota.Spec.Hard = corev1.ResourceList{corev1.ResourcePersistentVolumeClaims: size("1").Requests[corev1.ResourceStorage]}
	s.create(t, quota)
	harness.Eventually(t, soon, poll, func() error {
		if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(quota), quota); err != nil {
			return err
		}
		if used := quota.Status.Used[corev1.ResourcePersistentVolumeClaims]; used.Value() != 1 {
			return fmt.Errorf("the quota counts %s claims", &used)
		}
		return nil
	})
	calls := s.csi.Proxy().Calls("CreateVolume")
	r := restoreOf(namespace, "back", bed.CSIClass)
	r.Spec.DeadlineSeconds = 8
	s.create(t, r)
	s.ended(t, r, capturev1.ReasonDeadlineExceeded)
	if n := s.csi.Proxy().Calls("CreateVolume"); n != calls {
		t.Errorf("storage was spent for a claim that the quota refuses: %d calls", n-calls)
	}
	harness.Eventually(t, soon, poll, func() error {
		var told eventsv1.EventList
		if err := s.client.List(t.Context(), &told, client.InNamespace(namespace)); err != nil {
			return err
		}
		for _, e := range told.Items {
			if e.Reason == string(kube.ReasonQuotaExceeded) && e.Regarding.Name == r.Name && e.Regarding.Kind == "VolumeRestoreRequest" {
				return nil
			}
		}
		return fmt.Errorf("nobody tells of the quota: %d events", len(told.Items))
	})
	s.nothingLeaks(t)
}

func rehearsalLeavesNothing(t *testing.T, s *storage, namespace string) {
	s.capture(t, namespace, capturev1.Snapshot, orders)
	r := restoreOf(namespace, "trial", bed.CSIRetainClass) // whatever the class says
	r.Spec.Rehearsal = &capturev1.Rehearsal{}
	r.Spec.Rehearsal.Probe.Spec.Template.Spec.Containers = []corev1.Container{{Name: "look", Image: "none"}}
	s.rehearsesNothingWithoutTheAccount(t, r.DeepCopy())
	s.create(t, r)
	job := &batchv1.Job{}
	harness.Eventually(t, storageTakes, poll, func() error {
		return s.client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: volumerestore.ProbeName(r.UID)}, job)
	})
	if v := job.Spec.Template.Spec.Volumes; len(v) != 1 || v[0].Name != "restored" || v[0].PersistentVolumeClaim.ClaimName != "trial" {
		t.Errorf("the Job does not find the volume: %+v", v)
	}
	s.holds(t, namespace, "trial", orders)
	s.completes(t, job)
	s.ended(t, r, capturev1.ReasonCompleted)
	claim := s.claimed(t, r)
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: claim.Spec.VolumeName}}
	if err := s.client.Delete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	s.missing(t, claim)
	s.missing(t, job)
	s.missing(t, volume)
	s.nothingLeaks(t)
}

// rehearsesNothingWithoutTheAccount: the manager runs no Jobs of users by its own rights. Then the account gets the right.
func (s *storage) rehearsesNothingWithoutTheAccount(t *testing.T, r *capturev1.VolumeRestoreRequest) {
	t.Helper()
	r.Name, r.Spec.VolumeClaimTemplate.Name = "no-account", "no-account"
	s.create(t, r)
	s.ended(t, r, capturev1.ReasonProbeRefused)
	const words = "ServiceAccount statecraft-capture of namespace %s may not create the Job of the rehearsal; bind it to " +
		"ClusterRole statecraft-capture-tenant-rehearsal there, and make another request."
	if ready := apimeta.FindStatusCondition(r.Status.Conditions, fsm.Ready); ready.Message != fmt.Sprintf(words, r.Namespace) {
		t.Errorf("it says %q", ready.Message)
	}
	if err := s.client.Delete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	account := "system:serviceaccount:" + r.Namespace + ":statecraft-capture"
	s.create(t, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: "rehearsals"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "statecraft-capture-tenant-rehearsal"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: r.Namespace, Name: "statecraft-capture"}},
	})
	as := harness.ClientAs(t, s.bed, s.client, account)
	harness.Eventually(t, soon, poll, func() error { // RBAC learns
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: "try"}, Spec: r.Spec.Rehearsal.Probe.Spec}
		job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		return harness.Accepted(t, as, job)
	})
}

// completes plays the node that ran the pods of a Job.
func (s *storage) completes(t *testing.T, job *batchv1.Job) {
	t.Helper()
	harness.Eventually(t, soon, poll, func() error {
		if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(job), job); err != nil {
			return err
		}
		now := metav1.Now()
		if job.Status.StartTime == nil {
			return fmt.Errorf("nobody has started the Job yet")
		}
		var pods corev1.PodList
		if err := s.client.List(t.Context(), &pods, client.InNamespace(job.Namespace), client.MatchingLabels(job.Spec.Selector.MatchLabels)); err != nil {
			return err
		}
		for i := range pods.Items {
			pods.Items[i].Status = corev1.PodStatus{Phase: corev1.PodSucceeded, StartTime: &now}
			if err := s.client.Status().Update(t.Context(), &pods.Items[i]); err != nil {
				return err
			}
		}
		if len(pods.Items) == 0 {
			return fmt.Errorf("the Job has no pod yet")
		}
		return nil
	})
}

func movesOnce(t *testing.T, s *storage, namespace string) {
	c := s.capture(t, namespace, capturev1.Detach, orders)
	first, second := restoreOf(namespace, "first", bed.CSIClass), restoreOf(namespace, "second", bed.CSIClass)
	s.create(t, first)
	s.ended(t, first, capturev1.ReasonCompleted)
	s.holds(t, namespace, "first", orders)
	s.create(t, second)
	s.ended(t, second, capturev1.ReasonSourceConsumed)
	// The capture goes, and its keeper and holder; the volume is the claim's.
	if err := s.client.Delete(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	s.missing(t, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: "detached-" + string(c.UID)}})
	harness.Consistently(t, 2*time.Second, poll, func() error {
		v := &corev1.PersistentVolume{}
		return s.client.Get(t.Context(), client.ObjectKey{Name: c.Status.ArtifactRef.Name}, v)
	})
	s.holds(t, namespace, "first", orders)
	s.nothingLeaks(t)
}

func makesOwnVolumesOnly(t *testing.T, s *storage, namespace string) {
	as, err := client.New(s.bed.ConfigFor(restorerUser), client.Options{Scheme: s.client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	volume := func(change func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
		v := restorer.NewPV(restorer.Intent{
			Claim: restorer.Ref{Namespace: namespace, Name: "a", UID: "1"},
			Plan:  restorer.Plan{Driver: bed.DriverName, Name: "forged-" + namespace, Bytes: 1, AccessModes: modes()},
			Shape: restorer.Shape{ReclaimPolicy: corev1.PersistentVolumeReclaimRetain},
		}, restorer.Volume{ID: "v"})
		change(v)
		return v
	}
	for what, change := range map[string]func(*corev1.PersistentVolume){
		"a path of a node": func(v *corev1.PersistentVolume) {
			v.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/etc"}}
		},
		"a volume of another driver":  func(v *corev1.PersistentVolume) { v.Spec.CSI.Driver = "another.example.com" },
		"a volume that anybody takes": func(v *corev1.PersistentVolume) { v.Spec.ClaimRef = nil },
	} {
		if err := as.Create(t.Context(), volume(change)); !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
