package capture

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/test/sim"
)

var (
	manifestRestoreKind = capturev1.GroupVersion.WithKind("ManifestRestoreRequest")
	volumeRestoreKind   = capturev1.GroupVersion.WithKind("VolumeRestoreRequest")
	secretKind          = corev1.SchemeGroupVersion.WithKind("Secret")
	roleKind            = rbacv1.SchemeGroupVersion.WithKind("Role")
	restoredClaimKind   = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
	statefulSetKind     = appsv1.SchemeGroupVersion.WithKind("StatefulSet")
)

// manifestRestores are the stories of restores of manifests.
func manifestRestores() []*sim.Subject {
	return []*sim.Subject{
		manifestRestore("restore-creates", restoreTale{policy: capturev1.ConflictFail, over: true, ends: capturev1.ReasonCompleted}),
		manifestRestore("restore-replaces", restoreTale{policy: capturev1.ConflictReplace, taken: true, ends: capturev1.ReasonCompleted}),
		manifestRestore("restore-conflicts", restoreTale{policy: capturev1.ConflictFail, taken: true, ends: capturev1.ReasonConflict}),
		manifestRestore("restore-partial", restoreTale{policy: capturev1.ConflictSkip, taken: true, grabs: true, ends: capturev1.ReasonPartiallyRestored}),
		manifestRestore("restore-dry", restoreTale{policy: capturev1.ConflictReplace, taken: true, dry: true, ends: capturev1.ReasonCompleted}),
		manifestRestore("restore-volume", restoreTale{policy: capturev1.ConflictFail, volume: true, ends: capturev1.ReasonCompleted}),
	}
}

func manifestRestore(name string, t restoreTale) *sim.Subject {
	s := subject(name, tale{})
	s.Kinds = []schema.GroupVersionKind{manifestRestoreKind, volumeRestoreKind, configMapKind, secretKind, roleKind, restoredClaimKind, statefulSetKind}
	s.Open = t.open
	return s
}

// restoreTale is how one restore fares.
type restoreTale struct {
	policy capturev1.ConflictPolicy
	taken  bool // somebody has the name of an object
	grabs  bool // a Role grants more than the account may
	dry    bool
	volume bool // a claim has a captured volume
	over   bool // when it is over, the user deletes something that was restored
	ends   fsm.Reason
}

// restoreStory is a tale being told.
type restoreStory struct {
	restoreTale
	world     *sim.World
	request   *capturev1.ManifestRestoreRequest
	namespace types.UID
	theirs    types.UID               // of what has a name that is needed
	deleted   bool                    // the user has deleted something that was restored
	asked     map[types.UID]time.Time // when volumes were asked for
}

func (t restoreTale) open(w *sim.World) *sim.Play {
	s := &restoreStory{restoreTale: t, world: w, asked: map[types.UID]time.Time{}}
	s.request = &capturev1.ManifestRestoreRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "back"},
		Spec: capturev1.ManifestRestoreRequestSpec{
			ConflictPolicy: t.policy, DryRun: t.dry, DeadlineSeconds: 86400,
			NotAfter: &metav1.Time{Time: w.Now().Add(24 * time.Hour).Truncate(time.Second)},
		},
	}
	play := &sim.Play{
		Main:  sim.Ref{GroupVersionKind: manifestRestoreKind, Key: client.ObjectKeyFromObject(s.request)},
		Build: s.build,
		Steps: []sim.Step{
			{Name: "make a checkpoint", Do: s.prepare, Until: func() error { return nil }, Calm: true},
			{Name: "restore it", Do: func(ctx context.Context) error { return w.Client.Create(ctx, s.request) }, Until: s.ended},
		},
		Always: s.always,
		End:    s.end,
		Equal: func(obj *unstructured.Unstructured) { // a volume has the time that is left
			unstructured.RemoveNestedField(obj.Object, "spec", "deadlineSeconds")
		},
		Others: []sim.Other{{Name: "with its status lost", Faults: []sim.Fault{sim.Wiped}, Is: func() bool {
			_, reason := s.state()
			return reason == string(fsm.Lost)
		}}},
	}
	if t.over {
		play.Steps = append(play.Steps, sim.Step{Name: "delete something, and touch the request", Do: s.delete, Until: s.ended})
	}
	if t.volume {
		play.Meanwhile = s.restoreVolumes
	}
	return play
}

func (s *restoreStory) build(c *sim.Cell) {
	parts := capture.RestoreParts{
		Work: &kube.Worker[*manifestrestore.Report]{Wake: c.Wake(manifestRestoreKind)}, Mapper: s.world.Client.RESTMapper(),
		As: func(namespace string) (client.Client, error) {
			return c.As("system:serviceaccount:" + namespace + ":" + act.Account)
		},
		Rights: allRights(),
	}
	r := capture.NewManifestRestore(c.Env(), capture.Defaults(), parts)
	c.Work(parts.Work)
	c.Cache(capture.Caches()...)
	c.Index(capture.Indexes()...)
	c.Add(sim.Controller{Reconciler: r, Kind: manifestRestoreKind, Echo: r.Store.Wrote, Wakes: capture.ManifestRestoreWakes(&kube.Waker{})})
}
