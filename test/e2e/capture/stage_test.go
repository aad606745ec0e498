package capture

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

// stage is a bed with a CSI driver, on which the manager and a restorer run.
type stage struct{ *product.Stage }

// newStage makes a stage, whose manager has these flags besides those that all tests give it.
func newStage(t *testing.T, args ...string) *stage {
	t.Helper()
	s := &stage{product.NewStage(t, product.StageOptions{
		Area: area, Nodes: 1, With: []bed.Part{bed.CSI}, Images: []string{images.Busybox}, Args: args,
	})}
	run(t, s.Bed, "apply", "-f", filepath.Join(harness.Root(t), "config", "rbac", "capture-restorer"))
	s.restorer()
	s.Manager.Start()
	t.Cleanup(s.Bed.CSI().Proxy().Clear)
	return s
}

const restorer = "statecraft-restorer"

// restorer runs beside the driver for as long as the bed, as it does in the driver's pod.
func (s *stage) restorer() {
	s.T.Helper()
	program := filepath.Join(s.Bed.Dir(), restorer)
	if _, err := os.Stat(program); err == nil {
		return // it runs since the first test
	}
	product.Build(s.T, s.Bed, restorer)
	user := "system:serviceaccount:" + harness.SystemNamespace + ":" + restorer
	kubeconfig, err := s.Bed.KubeconfigFor(user, "system:serviceaccounts", "system:serviceaccounts:"+harness.SystemNamespace)
	if err != nil {
		s.T.Fatal(err)
	}
	err = s.Bed.CSI().AddSidecar(restorer, program, "--csi-address="+s.Bed.CSI().Socket(), "--kubeconfig="+kubeconfig,
		"--health-probe-bind-address=0", "--no-leader-election")
	if err != nil {
		s.T.Fatal(err)
	}
}

// request is one of the four kinds.
type request interface {
	client.Object
	GetProgress() *meta.Progress
}

// ended waits for the end of a request, and returns how it ended.
func (s *stage) ended(r request) metav1.Condition {
	s.T.Helper()
	return s.endedWithin(r, within)
}

func (s *stage) endedWithin(r request, within time.Duration) metav1.Condition {
	s.T.Helper()
	var ready *metav1.Condition
	harness.Eventually(s.T, within, poll, func() error {
		if err := s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(r), r); err != nil {
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
	s.T.Helper()
	if c := s.ended(r); c.Status != metav1.ConditionTrue {
		s.T.Fatalf("%T %s: %s, %s", r, r.GetName(), c.Reason, c.Message)
	}
}

// keeper is that of a request.
func keeperOf(r client.Object) *capturev1.ObjectKeeper {
	return &capturev1.ObjectKeeper{ObjectMeta: metav1.ObjectMeta{Name: "request-" + string(r.GetUID())}}
}

// snapshots are those that the driver has.
func (s *stage) snapshots() []string {
	s.T.Helper()
	list, err := s.Bed.CSI().Snapshots()
	if err != nil {
		s.T.Fatal(err)
	}
	return list
}

// has says that the backend has a snapshot or a volume.
func (s *stage) backendHas(list func() ([]string, error), handle string) bool {
	s.T.Helper()
	all, err := list()
	if err != nil {
		s.T.Fatal(err)
	}
	return strings.Contains("\n"+strings.Join(all, "\n")+"\n", "\n"+handle+"\n")
}

// freed waits until the backend has let go of a snapshot or a volume.
func (s *stage) freed(list func() ([]string, error), handle string) {
	s.T.Helper()
	harness.Eventually(s.T, within, poll, func() error {
		if s.backendHas(list, handle) {
			return fmt.Errorf("the backend still has %s", handle)
		}
		return nil
	})
}

// exec runs a command in a pod that is ready.
func (s *stage) exec(pod *corev1.Pod, script string) string {
	s.T.Helper()
	ctx, cancel := context.WithTimeout(s.T.Context(), within)
	defer cancel()
	out, err := s.Bed.Kubectl(ctx, "exec", "-n", pod.Namespace, pod.Name, "--", "sh", "-c", script)
	if err != nil {
		s.T.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(out)
}
