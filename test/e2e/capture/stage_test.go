package capture

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// stage is a bed with a CSI driver, on which the manager and a restorer run.
type stage struct {
	t         *testing.T
	b         *bed.Bed
	c         client.Client
	manager   *harness.Manager
	namespace string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	b := bedtest.Nodes(t, 1, bed.CSI)
	if err := b.LoadImages(t.Context(), images.Busybox); err != nil {
		t.Fatal(err)
	}
	c := harness.Client(t, b, snapshotv1.AddToScheme, capturev1.AddToScheme)
	s := &stage{t: t, b: b, c: c, manager: harness.NewManager(t, b, area), namespace: bedtest.Namespace(t, b)}
	run(t, b, "apply", "-f", filepath.Join(harness.Root(t), "config", "rbac", "capture-restorer"))
	s.restorer()
	s.manager.Start()
	t.Cleanup(b.CSI().Proxy().Clear)
	return s
}

const restorer = "statecraft-restorer"

// restorer runs beside the driver for as long as the bed, as it does in the driver's pod.
func (s *stage) restorer() {
	s.t.Helper()
	program := filepath.Join(s.b.Dir(), restorer)
	if _, err := os.Stat(program); err == nil {
		return // it runs since the first test
	}
	out, err := exec.CommandContext(s.t.Context(), "go", "build", "-o", program, "github.com/statecraft-dev/statecraft/cmd/"+restorer).CombinedOutput()
	if err != nil {
		s.t.Fatalf("build the restorer: %v\n%s", err, out)
	}
	user := "system:serviceaccount:" + harness.SystemNamespace + ":" + restorer
	kubeconfig, err := s.b.KubeconfigFor(user, "system:serviceaccounts", "system:serviceaccounts:"+harness.SystemNamespace)
	if err != nil {
		s.t.Fatal(err)
	}
	err = s.b.CSI().AddSidecar(restorer, program, "--csi-address="+s.b.CSI().Socket(), "--kubeconfig="+kubeconfig,
		"--health-probe-bind-address=0", "--no-leader-election")
	if err != nil {
		s.t.Fatal(err)
	}
}

// kubectl runs a command in the namespace of the test.
func (s *stage) kubectl(args ...string) string {
	s.t.Helper()
	return run(s.t, s.b, append([]string{"-n", s.namespace}, args...)...)
}

func (s *stage) create(obj client.Object) {
	s.t.Helper()
	if obj.GetNamespace() == "" {
		obj.SetNamespace(s.namespace)
	}
	if err := s.c.Create(s.t.Context(), obj); err != nil {
		s.t.Fatal(err)
	}
}

// request is one of the four kinds.
type request interface {
	client.Object
	GetProgress() *meta.Progress
}

// ended waits for the end of a request, and returns how it ended.
func (s *stage) ended(r request) metav1.Condition {
	s.t.Helper()
	return s.endedWithin(r, within)
}

func (s *stage) endedWithin(r request, within time.Duration) metav1.Condition {
	s.t.Helper()
	var ready *metav1.Condition
	harness.Eventually(s.t, within, poll, func() error {
		if err := s.c.Get(s.t.Context(), client.ObjectKeyFromObject(r), r); err != nil {
			return err
		}
		if ready = apimeta.FindStatusCondition(r.GetProgress().Conditions, "Ready"); ready == nil {
			return fmt.Errorf("%T %s: %s, waits for %s", r, r.GetName(), r.GetProgress().Phase, r.GetProgress().WaitingFor)
		}
		return nil
	})
	return *ready
}

// succeeds waits until a request is Ready.
func (s *stage) succeeds(r request) {
	s.t.Helper()
	if c := s.ended(r); c.Status != metav1.ConditionTrue {
		s.t.Fatalf("%T %s: %s, %s", r, r.GetName(), c.Reason, c.Message)
	}
}

// gone waits until something is gone.
func (s *stage) gone(obj client.Object) {
	s.t.Helper()
	harness.Eventually(s.t, within, poll, func() error { return harness.Gone(s.t.Context(), s.c, obj) })
}

// delete deletes something, in the background; also when the test has ended.
func (s *stage) delete(obj client.Object) {
	s.t.Helper()
	if err := s.c.Delete(context.WithoutCancel(s.t.Context()), obj, client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
		s.t.Fatal(err)
	}
}

// keeper is that of a request.
func keeperOf(r client.Object) *capturev1.ObjectKeeper {
	return &capturev1.ObjectKeeper{ObjectMeta: metav1.ObjectMeta{Name: "request-" + string(r.GetUID())}}
}

// snapshots are those that the driver has.
func (s *stage) snapshots() []string {
	s.t.Helper()
	list, err := s.b.CSI().Snapshots()
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

// has says that the backend has a snapshot or a volume.
func (s *stage) backendHas(list func() ([]string, error), handle string) bool {
	s.t.Helper()
	all, err := list()
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Contains("\n"+strings.Join(all, "\n")+"\n", "\n"+handle+"\n")
}

// freed waits until the backend has let go of a snapshot or a volume.
func (s *stage) freed(list func() ([]string, error), handle string) {
	s.t.Helper()
	harness.Eventually(s.t, within, poll, func() error {
		if s.backendHas(list, handle) {
			return fmt.Errorf("the backend still has %s", handle)
		}
		return nil
	})
}

// exec runs a command in a pod that is ready.
func (s *stage) exec(pod *corev1.Pod, script string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), within)
	defer cancel()
	out, err := s.b.Kubectl(ctx, "exec", "-n", pod.Namespace, pod.Name, "--", "sh", "-c", script)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(out)
}
