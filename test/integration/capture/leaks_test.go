package capture

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// captures runs the command as a person would, and returns what it printed and its exit code.
func captures(t *testing.T, b *bed.Bed, args ...string) (string, int) {
	t.Helper()
	path := filepath.Join(b.Dir(), "statecraft-captures")
	if out, err := exec.Command("go", "build", "-o", path, "github.com/statecraft-dev/statecraft/cmd/statecraft-captures").CombinedOutput(); err != nil {
		t.Fatalf("build the command: %v\n%s", err, out)
	}
	out, err := exec.Command(path, append(args, "--kubeconfig="+b.Kubeconfig())...).CombinedOutput()
	exit := &exec.ExitError{}
	if errors.As(err, &exit) {
		return string(out), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out), 0
}

// TestTheLeakReport makes what a crash and a careless hand leave behind, without a manager that
// would put it right.
func TestTheLeakReport(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	made := manifests(namespace, false)
	create(t, c, made)
	kept := request.NewKeeper(made, capturev1.GroupVersion.WithKind("ManifestCaptureRequest"), "n1", request.Terms{})
	create(t, c, kept)
	good := checkpoint(string(made.UID))
	good.Spec.Origin.RequestUID, good.Spec.Bytes = made.UID, 2<<20
	good.OwnerReferences = []metav1.OwnerReference{request.KeptBy(made.UID, kept.UID)}
	create(t, c, good)
	report := func() (string, int) {
		out, code := captures(t, b, "leaks", "--patience=1s", "--again=0")
		var mine []string // other tests use the same cluster
		for line := range strings.Lines(out) {
			if strings.Contains(line, string(made.UID)) || strings.Contains(line, "99999999") {
				mine = append(mine, line)
			}
		}
		return strings.Join(mine, ""), code
	}
	harness.Eventually(t, soon, poll, func() error {
		if time.Since(good.CreationTimestamp.Time) < 3*time.Second {
			return errors.New("what was made is too young")
		}
		return nil
	})
	if lines, _ := report(); lines != "" {
		t.Errorf("nothing of this leaks:\n%s", lines)
	}
	if out, code := captures(t, b, "list", "-n", namespace); code != 0 || !strings.Contains(out, "mcr/manifests") {
		t.Errorf("exit code %d\n%s", code, out)
	}

	lost := checkpoint("99999999-0000-0000-0000-000000000000")
	create(t, c, lost)
	if err := c.Delete(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, obj := range []client.Object{lost, kept, good} {
			if err := c.Delete(context.Background(), obj); client.IgnoreNotFound(err) != nil {
				t.Log(err)
			}
		}
	})
	harness.Eventually(t, soon, time.Second, func() error {
		lines, code := report()
		if code != 1 || !strings.Contains(lines, "NoRequest") || !strings.Contains(lines, "NoKeeper") {
			return errors.New(lines)
		}
		return nil
	})
}
