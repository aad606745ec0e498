// Package product tests what a platform team installs and sees: images, chart and plugin, on real nodes.
package product

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/internal/areas"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	release      = "statecraft"
	first        = "0.1.0"
	second       = "0.2.0"
	within       = timeout.Wait
	poll         = 50 * time.Millisecond
	managersUp   = 60 * time.Second
	storageClass = "csi"
	valkeyImage  = images.Valkey81
)

// stage is a bed with the images of a package, and a namespace in which to install it.
type stage struct {
	*testing.T
	bed    *bed.Bed
	client client.Client
	system string
}

// newStage makes the system namespace, with restricted pod security; what was installed goes with the test.
func newStage(t *testing.T, system string) *stage {
	t.Helper()
	s := newEmptyStage(t, system)
	harness.Apply(t, s.bed, string(config.NamespaceFor(system)))
	return s
}

// newEmptyStage has nothing of ours yet, not even the namespace.
func newEmptyStage(t *testing.T, system string) *stage {
	t.Helper()
	b := bedtest.Nodes(t, 3, bed.CSI)
	if err := b.LoadImages(t.Context(), valkeyImage, images.Busybox); err != nil {
		t.Fatal(err)
	}
	add := func(s *runtime.Scheme) error {
		for _, a := range areas.All() {
			if err := a.Default().AddToScheme(s); err != nil {
				return err
			}
		}
		return nil
	}
	s := &stage{T: t, bed: b, client: harness.Client(t, b, add), system: system}
	t.Cleanup(s.sweep)
	return s
}

// sweep removes releases, users' objects, kinds and the namespace: the next test begins with an empty cluster.
func (s *stage) sweep() {
	if s.Failed() {
		s.dump()
	}
	ctx := context.WithoutCancel(s.Context())
	s.deleteObjects()
	list, _ := s.bed.Helm(ctx, "list", "-A", "-o", "json")
	var releases []struct{ Name, Namespace string }
	if err := json.Unmarshal([]byte(list), &releases); err != nil {
		s.Errorf("%v in %s", err, list)
	}
	for _, r := range releases {
		_, _ = s.bed.Helm(ctx, "uninstall", r.Name, "-n", r.Namespace, "--wait")
	}
	crds, err := s.bed.Kubectl(ctx, "get", "crd", "-o", "name")
	if err != nil {
		s.Error(err)
	}
	for crd := range strings.FieldsSeq(crds) {
		if strings.HasSuffix(crd, ".statecraft.dev") {
			if out, err := s.bed.Kubectl(ctx, "delete", crd, "--timeout=60s"); err != nil {
				s.Errorf("%v\n%s", err, out)
			}
		}
	}
	s.deleteNamespaces(ctx)
}

// deleteNamespaces deletes that of the release, and those that the chart keeps: they bear the name of their release, and
// Helm lets no other one adopt them.
func (s *stage) deleteNamespaces(ctx context.Context) {
	for _, which := range [][]string{{s.system, "--ignore-not-found"}, {"-l", "app.kubernetes.io/part-of=statecraft"}} {
		if out, err := s.bed.Kubectl(ctx, append([]string{"delete", "namespace", "--timeout=120s"}, which...)...); err != nil {
			s.Errorf("%v\n%s", err, out)
		}
	}
}

// deleteObjects deletes those of users, while managers run.
func (s *stage) deleteObjects() {
	for _, kind := range []string{"rr", "kx,kxa", "crt", "vku", "vkc", "mrr,mcr,vrr,vcr,ok"} {
		_, _ = s.bed.Kubectl(context.WithoutCancel(s.Context()), "delete", kind, "-A", "--all", "--ignore-not-found", "--timeout=90s")
	}
}

// dump shows what a failed test left.
func (s *stage) dump() {
	ctx := context.WithoutCancel(s.Context())
	for _, args := range [][]string{
		{"get", "pods,pvc,vkc,vku,vcr,crt,kx", "-A", "-o", "wide"}, {"get", "events", "-A", "--field-selector=type=Warning"},
		{"logs", "-n", s.system, "-l", "app.kubernetes.io/part-of=statecraft", "--prefix", "--tail=30"},
	} {
		out, err := s.bed.Kubectl(ctx, args...)
		s.Logf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// load builds a version and loads its images into every node.
func (s *stage) load(version string) product.Package {
	s.Helper()
	p := product.Pack(s, s.bed, version)
	if err := s.bed.LoadImage(s.Context(), p.Images); err != nil {
		s.Fatal(err)
	}
	return p
}

// values are those of all releases: nodes have the images, and what is deleted goes at once.
var values = []string{"--set=image.pullPolicy=Never", "--set=areas.capture.args={--capture-retention-min=0s}"}

// install installs a version under a name and waits for its managers; it returns how long they took.
func (s *stage) install(name, version string, flags ...string) time.Duration {
	s.Helper()
	p := s.load(version)
	began := time.Now()
	s.helm(append(append([]string{"upgrade", "--install", name, p.Chart, "-n", s.system}, values...), flags...)...)
	s.managersReady()
	return time.Since(began)
}

func (s *stage) managersReady() {
	s.Helper()
	for _, a := range areas.All() {
		harness.RolledOut(s, s.bed, s.system, a.Name, managersUp.String())
	}
}

// helm runs Helm, which must succeed.
func (s *stage) helm(args ...string) string {
	s.Helper()
	out, err := s.bed.Helm(s.Context(), args...)
	if err != nil {
		s.Fatalf("%v\n%s", err, out)
	}
	return out
}

// kubectl runs kubectl as administrator, which must succeed.
func (s *stage) kubectl(args ...string) string {
	s.Helper()
	out, err := s.bed.Kubectl(s.Context(), args...)
	if err != nil {
		s.Fatalf("%v\n%s", err, out)
	}
	return out
}

// plugin runs kubectl statecraft and returns what it says and its exit code.
func (s *stage) plugin(args ...string) (string, int) {
	s.Helper()
	return runPlugin(s.T, s.bed, s.bed.Kubeconfig(), args...)
}

// condition waits until a condition of an object is as wished.
func (s *stage) condition(namespace, object, condition string) {
	s.Helper()
	s.kubectl("wait", "-n", namespace, "--for=condition="+condition, object, "--timeout="+within.String())
}

func cluster(namespace, name string, change func(*valkeyv1.ValkeyCluster)) *valkeyv1.ValkeyCluster {
	vkc := &valkeyv1.ValkeyCluster{Spec: valkeyv1.ValkeyClusterSpec{Image: valkeyImage}}
	vkc.Namespace, vkc.Name = namespace, name
	change(vkc)
	return vkc
}

func (s *stage) create(obj client.Object) {
	s.Helper()
	if err := s.client.Create(s.Context(), obj); err != nil {
		s.Fatal(err)
	}
}

// captureOf asks for a capture of a claim.
func captureOf(namespace, claim string) *capturev1.VolumeCaptureRequest {
	r := &capturev1.VolumeCaptureRequest{}
	r.Namespace, r.Name = namespace, claim
	r.Spec.Target.Name = claim
	return r
}
