package bed_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
)

func TestAControlPlaneServesItsVersionAndMakesAccountsForPods(t *testing.T) {
	b := bedtest.ControlPlane(t)
	client, err := kubernetes.NewForConfig(b.Config())
	if err != nil {
		t.Fatal(err)
	}
	version, err := client.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if version.GitVersion != "v1.36.3" {
		t.Errorf("server version %s, want v1.36.3", version.GitVersion)
	}
	out, err := b.Kubectl(t.Context(), "get", "serviceaccount", "default", "--output=name")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(out); got != "serviceaccount/default" {
		t.Errorf("kubectl printed %q", got)
	}
}

func TestAUserIsWhoItsCertificateSaysAndNothingMore(t *testing.T) {
	b := bedtest.ControlPlane(t)
	path, err := b.KubeconfigFor("somebody", "some-group")
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.Kubectl(t.Context(), "auth", "whoami", "--output=jsonpath={.status.userInfo.username}", "--kubeconfig="+path)
	if err != nil {
		t.Fatal(err)
	}
	if out != "somebody" {
		t.Errorf("kubeconfig of somebody speaks for %q", out)
	}
	client, err := kubernetes.NewForConfig(b.ConfigFor("somebody", "some-group"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Secrets("default").List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("a user without roles could list Secrets")
	}
}

func TestTwoControlPlanesRunSideBySideAndStopLeavesNothing(t *testing.T) {
	first := bedtest.ControlPlane(t)
	second, err := bed.Start(t.Context(), bed.ControlPlane)
	if err != nil {
		t.Fatal(err)
	}
	if first.Config().Host == second.Config().Host {
		t.Errorf("both listen on %s", first.Config().Host)
	}
	pids := second.PIDs()
	if len(pids) != 4 {
		t.Errorf("%d processes, want 4", len(pids))
	}
	if err := second.Stop(); err != nil {
		t.Fatal(err)
	}
	for name, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("%s (%d) still lives: %v", name, pid, err)
		}
	}
	if _, err := os.Stat(second.Dir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("directory of a stopped bed is still there: %v", err)
	}
	if _, err := first.Kubectl(t.Context(), "get", "namespaces"); err != nil {
		t.Errorf("stopping one bed hurt the other: %v", err)
	}
}

func TestCRDsAreServedOnceInstalled(t *testing.T) {
	b := bedtest.ControlPlane(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "boats.yaml"), []byte(boatsCRD), 0o600); err != nil {
		t.Fatal(err)
	}
	bedtest.InstallCRDs(t, b, dir)
	out, err := b.Kubectl(t.Context(), "get", "boats.bed.example", "--all-namespaces", "--output=name")
	if err != nil || out != "" {
		t.Errorf("list boats: %q, %v", out, err)
	}
	if err := b.InstallCRDs(t.Context(), t.TempDir()); !errors.Is(err, bed.ErrNoCRDs) {
		t.Errorf("an empty directory installed: %v", err)
	}
}

const boatsCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.bed.example}
spec:
  group: bed.example
  scope: Namespaced
  names: {plural: boats, singular: boat, kind: Boat}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
`
