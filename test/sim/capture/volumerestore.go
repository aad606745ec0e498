package capture

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer/csi/csifake"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/sim"
)

var (
	restoreRequestKind = capturev1.GroupVersion.WithKind("VolumeRestoreRequest")
	jobKind            = batchv1.SchemeGroupVersion.WithKind("Job")
)

// volumeRestores are the stories of restores of volumes. The manager and the restorer are
// two controllers of one process, so that both end at the same moment.
func volumeRestores() []*sim.Subject {
	return []*sim.Subject{
		volumeRestore("restore-snapshot", volumeRestoreTale{ends: capturev1.ReasonCompleted}),
		volumeRestore("restore-fails", volumeRestoreTale{ends: capturev1.ReasonDriverError}),
		volumeRestore("restore-late", volumeRestoreTale{ends: capturev1.ReasonDeadlineExceeded}),
		volumeRestore("restore-moves", volumeRestoreTale{ends: capturev1.ReasonCompleted, moves: true}),
		volumeRestore("restore-rehearsal", volumeRestoreTale{ends: capturev1.ReasonCompleted, rehearsal: true}),
		volumeRestore("restore-deleted", volumeRestoreTale{deleted: true}),
	}
}

func volumeRestore(name string, t volumeRestoreTale) *sim.Subject {
	s := subject(name, tale{})
	s.Install = installRestorer
	s.Kinds = []schema.GroupVersionKind{restoreRequestKind, claimKind, jobKind}
	s.Open = t.open
	return s
}

// installRestorer lets the user of the controllers do what a restorer may, too.
func installRestorer(t testing.TB, b *bed.Bed) {
	t.Helper()
	installStorage(t, b)
	if out, err := b.Kubectl(t.Context(), "apply", "-f", filepath.Join(harness.Root(t), "config", "rbac", "capture-restorer")); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	c, err := client.New(b.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	who := []rbacv1.Subject{{Kind: "User", Name: harness.User(area), APIGroup: rbacv1.GroupName}}
	role := func(kind string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: "statecraft-restorer"}
	}
	for _, obj := range []client.Object{
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "sim-restorer"}, RoleRef: role("ClusterRole"), Subjects: who},
		&rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: "sim-restorer"}, RoleRef: role("Role"), Subjects: who},
		&rbacv1.ClusterRoleBinding{ // when a new binding is in force is not the same every time
			ObjectMeta: metav1.ObjectMeta{Name: "sim-rehearsals"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "statecraft-capture-tenant-rehearsal"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "system:serviceaccounts"}},
		},
	} {
		if err := c.Create(t.Context(), obj); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
}

// volumeRestoreTale is how one restore fares.
type volumeRestoreTale struct {
	ends      fsm.Reason
	moves     bool // a detached volume
	rehearsal bool
	deleted   bool // the request goes while the driver makes the volume
}

// volumeRestoreStory is a tale being told.
type volumeRestoreStory struct {
	volumeRestoreTale
	world           *sim.World
	storage         *storage
	driver          *csifake.Driver
	request, second *capturev1.VolumeRestoreRequest
	volume          *corev1.PersistentVolume // the one that is moved
	holds           bool                     // the driver is at work
	claims          map[string]bool          // UIDs of claims that are bound
}

const sourceHandle = "snapshot-source"

func (t volumeRestoreTale) open(w *sim.World) *sim.Play {
	s := &volumeRestoreStory{volumeRestoreTale: t, world: w, storage: newStorage(w), driver: csifake.New(sourceHandle), claims: map[string]bool{}}
	s.driver.Fail = s.refuses
	s.holds = t.deleted
	s.request, s.second = s.newRequest("back"), s.newRequest("again")
	if t.rehearsal {
		s.request.Spec.Rehearsal = probe()
	}
	switch t.ends {
	case capturev1.ReasonDriverError:
		s.request.Spec.OnTransientError = capturev1.FailAtOnce
	case capturev1.ReasonDeadlineExceeded:
		s.request.Spec.DeadlineSeconds = 1800 // more than a clock jumps
	}
	play := &sim.Play{
		Main:      sim.Ref{GroupVersionKind: restoreRequestKind, Key: client.ObjectKeyFromObject(s.request)},
		Build:     s.build,
		Steps:     s.steps(),
		Meanwhile: s.meanwhile,
		Always:    s.always,
		End:       s.end,
		Role:      roleOf,
		Others: []sim.Other{
			{Name: "given up before it was begun", Faults: []sim.Fault{sim.ClockJump, sim.LostEvent}, Is: s.neverBegun},
			{Name: "with its status lost", Faults: []sim.Fault{sim.Wiped}, Is: func() bool { return s.reason(s.request) == string(fsm.Lost) }},
		},
	}
	return play
}

// roleOf does not count intents. Who does not know that another has taken over, and has
// finished, may note one once more; it finds everything done and takes the note back. That
// none is left, and what the backend has, is judged in the end.
func roleOf(obj *unstructured.Unstructured) string {
	if obj.GetKind() == "ConfigMap" {
		return ""
	}
	return obj.GetKind()
}

func (s *volumeRestoreStory) steps() []sim.Step {
	steps := []sim.Step{{Name: "have something to restore", Do: s.prepare, Until: s.prepared, Calm: true}}
	begin := func(r *capturev1.VolumeRestoreRequest) func(context.Context) error {
		return func(ctx context.Context) error { return s.world.Client.Create(ctx, r) }
	}
	if s.deleted {
		return append(steps,
			sim.Step{Name: "restore it", Do: begin(s.request), Until: s.intended},
			sim.Step{Name: "delete the request", Do: func(ctx context.Context) error {
				s.holds = false
				return s.world.Client.Delete(ctx, s.request)
			}, Until: s.undone})
	}
	steps = append(steps, sim.Step{Name: "restore it", Do: begin(s.request), Until: func() error {
		if s.neverBegun() {
			return errors.New("it was given up before it was begun")
		}
		return s.ended(s.request, s.ends)
	}})
	if s.moves {
		steps = append(steps, sim.Step{Name: "restore it again", Do: begin(s.second), Until: func() error {
			return s.ended(s.second, capturev1.ReasonSourceConsumed)
		}})
	}
	return steps
}

func (s *volumeRestoreStory) newRequest(name string) *capturev1.VolumeRestoreRequest {
	class := s.world.Namespace
	r := &capturev1.VolumeRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: name}}
	r.Spec.DeadlineSeconds = 7 * 24 * 3600 // a request that nobody is told of is found hours later
	r.Spec.Source.VolumeSnapshotContent = &capturev1.NameRef{Name: s.world.Namespace}
	if s.moves {
		r.Spec.Source = capturev1.VolumeSource{PersistentVolume: &capturev1.NameRef{Name: s.world.Namespace + "-detached"}}
	}
	r.Spec.VolumeClaimTemplate = capturev1.VolumeClaimTemplate{Name: name, Spec: capturev1.RestoredClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class,
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	return r
}

// probe is a Job that the cluster's own controller leaves alone: the story says what came of it.
func probe() *capturev1.Rehearsal {
	other := "sim.example.com/story"
	p := &capturev1.Rehearsal{}
	p.Probe.Spec.ManagedBy = &other
	p.Probe.Spec.Template.Spec.Containers = []corev1.Container{{Name: "look", Image: "none"}}
	return p
}

func (s *volumeRestoreStory) ended(r *capturev1.VolumeRestoreRequest, why fsm.Reason) error {
	if got := s.reason(r); got != string(why) {
		now := r.DeepCopy()
		s.world.Find(now)
		return fmt.Errorf("%s is %s for %q, and not ended for %s: %s", r.Name, now.Status.Phase, got, why, now.Status.WaitingFor)
	}
	if s.intent() {
		return errors.New("the intent is still there")
	}
	return nil
}
