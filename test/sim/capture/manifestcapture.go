package capture

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	codec "github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/sim"
)

var (
	manifestCaptureKind = capturev1.GroupVersion.WithKind("ManifestCaptureRequest")
	checkpointKind      = capturev1.GroupVersion.WithKind("ManifestCheckpoint")
	chunkKind           = capturev1.GroupVersion.WithKind("ManifestCheckpointContentChunk")
)

// manifestCaptures are the stories of captures of manifests.
func manifestCaptures() []*sim.Subject {
	return []*sim.Subject{
		manifestCapture("capture-manifests", captureTale{ends: capturev1.ReasonCompleted}),
		manifestCapture("capture-secrets", captureTale{secrets: true, ends: capturev1.ReasonCompleted}),
		manifestCapture("capture-missing", captureTale{missing: true, ends: capturev1.ReasonNotFound}),
		manifestCapture("capture-squatted", captureTale{squatted: true, ends: capturev1.ReasonNameTaken}),
		manifestCapture("capture-robbed", captureTale{robbed: true, ends: capturev1.ReasonIncomplete}),
	}
}

func manifestCapture(name string, t captureTale) *sim.Subject {
	s := subject(name, tale{})
	s.Kinds = []schema.GroupVersionKind{manifestCaptureKind, configMapKind}
	s.Own = []schema.GroupVersionKind{manifestCaptureKind, keeperKind, checkpointKind, chunkKind}
	var server *act.Server
	s.Install = func(tb testing.TB, b *bed.Bed) {
		install(tb, b)
		allowCaptures(tb, b)
		var err error
		if server, err = act.NewServer(b.ConfigFor(s.User, s.Groups...)); err != nil {
			tb.Fatal(err)
		}
	}
	s.Open = func(w *sim.World) *sim.Play { return t.open(w, server) }
	return s
}

// allowCaptures lets all ServiceAccounts read what is captured, once and for all: when a new
// binding is in force is not the same every time. And it makes a key.
func allowCaptures(t testing.TB, b *bed.Bed) {
	t.Helper()
	c, err := client.New(b.Config(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	key := make([]byte, 32)
	objects := []client.Object{&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: codec.KeysSecret},
		Data:       map[string][]byte{"active": []byte("k1"), "k1": key},
	}}
	for _, role := range []string{"statecraft-capture-tenant", "statecraft-capture-tenant-secrets"} {
		objects = append(objects, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "all-" + role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "system:serviceaccounts"}},
		})
	}
	for _, obj := range objects {
		if err := c.Create(t.Context(), obj); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	as, err := client.New(b.ConfigFor("system:serviceaccount:default:"+act.Account, "system:serviceaccounts"), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, rightsWithin, rightsPoll, func() error {
		if err := as.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(metav1.NamespaceDefault)); err != nil {
			return err
		}
		return as.List(t.Context(), &corev1.SecretList{}, client.InNamespace(metav1.NamespaceDefault))
	})
}

// captureTale is how one capture fares.
type captureTale struct {
	secrets  bool // Secrets are captured, too: chunks are other ones in every try
	missing  bool // something is named that is not there
	squatted bool // somebody else has the name of the checkpoint
	robbed   bool // somebody deletes a chunk before it is read back
	ends     fsm.Reason
}

// captureStory is a tale being told.
type captureStory struct {
	captureTale
	world   *sim.World
	server  *act.Server
	request *capturev1.ManifestCaptureRequest
	made    int  // chunks that were made
	rob     bool // one was deleted
}

func (t captureTale) open(w *sim.World, server *act.Server) *sim.Play {
	s := &captureStory{captureTale: t, world: w, server: server}
	s.request = &capturev1.ManifestCaptureRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "before"},
		Spec: capturev1.ManifestCaptureRequestSpec{
			DeadlineSeconds: 604800, IncludeSecrets: t.secrets,
			Selector: &capturev1.ManifestSelector{
				Resources:     []capturev1.ManifestResource{{Resource: "configmaps"}},
				LabelSelector: &metav1.LabelSelector{MatchLabels: storyLabel},
			},
		},
	}
	if t.secrets {
		s.request.Spec.Selector.Resources = append(s.request.Spec.Selector.Resources, capturev1.ManifestResource{Resource: "secrets"})
	}
	if t.missing {
		s.request.Spec.Targets = []capturev1.ManifestTarget{{Resource: "configmaps", Name: "nowhere"}}
	}
	play := &sim.Play{
		Main:   sim.Ref{GroupVersionKind: manifestCaptureKind, Key: client.ObjectKeyFromObject(s.request)},
		Build:  s.build,
		Steps:  []sim.Step{{Name: "ask for a capture", Do: s.begin, Until: s.ended}},
		Always: s.always, End: s.end, Equal: s.equal, Others: s.others(),
	}
	if t.robbed {
		play.Meanwhile = s.robs
	}
	return play
}

// storyLabel is borne by what is captured, and not by what the cluster puts into every namespace.
var storyLabel = map[string]string{"story": "captured"}

func (s *captureStory) build(c *sim.Cell) {
	work := &kube.Worker[manifestcapture.Result]{Wake: c.Wake(manifestCaptureKind)}
	config := capture.Defaults()
	r := capture.NewManifestCapture(c.Env(), config, capture.ManifestCaptureParts{
		Source: simSource{c, s.server}, Work: work, Buffer: act.NewCaptureBuffer(false), Rights: allRights(),
	})
	c.Work(work)
	c.Cache(capture.Caches()...)
	c.Index(capture.Indexes()...)
	c.Add(sim.Controller{Reconciler: r, Kind: manifestCaptureKind, Echo: r.Store.Wrote})
}

// simSource is the API server across the boundary.
type simSource struct {
	cell   *sim.Cell
	server *act.Server
}

// Resources implements act.Source. What there is does not change in a story.
func (s simSource) Resources(ctx context.Context) (all []manifest.Resource, err error) {
	err = s.cell.Call(ctx, "discover", false, func(ctx context.Context) (func(), error) {
		found, err := s.server.Resources(ctx)
		return func() { all = found }, err
	})
	return all, err
}

// List implements act.Source.
func (s simSource) List(ctx context.Context, q manifest.Query, o act.ListOptions) (page []byte, err error) {
	err = s.cell.Call(ctx, "list "+q.Title(), false, func(ctx context.Context) (func(), error) {
		found, err := s.server.List(ctx, q, o)
		return func() { page = found }, err
	})
	return page, err
}
