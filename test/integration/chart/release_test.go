package chart

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// release is one on an API server, without a node on which its managers could run.
type release struct {
	*testing.T
	bed       *bed.Bed
	name      string
	namespace string
}

func newRelease(t *testing.T, name string) release {
	t.Helper()
	b := bedtest.ControlPlane(t)
	r := release{t, b, name, bedtest.Namespace(t, b)}
	t.Cleanup(func() {
		_, _ = r.bed.Helm(context.WithoutCancel(t.Context()), "uninstall", name, "-n", r.namespace, "--wait")
	})
	return r
}

// helm installs or upgrades. Kinds of an earlier test belong to its release.
func (r release) helm(verb string, flags ...string) (string, error) {
	if verb == "install" {
		flags = append(flags, "--take-ownership")
	}
	chart := filepath.Join(harness.Root(r.T), "charts", "statecraft")
	return r.bed.Helm(r.Context(), append([]string{verb, r.name, chart, "-n", r.namespace}, flags...)...)
}

func (r release) must(verb string, flags ...string) string {
	r.Helper()
	out, err := r.helm(verb, flags...)
	if err != nil {
		r.Fatalf("%v\n%s", err, out)
	}
	return out
}

func (r release) kubectl(args ...string) string {
	r.Helper()
	out, err := r.bed.Kubectl(r.Context(), args...)
	if err != nil {
		r.Fatalf("%v\n%s", err, out)
	}
	return out
}

// TestAnUpgradeTakesEditsBack: what a person changed by hand is as shipped after the upgrade that the docs name, and what was
// deleted is there again.
func TestAnUpgradeTakesEditsBack(t *testing.T) {
	r := newRelease(t, "edited")
	r.must("install")
	const policy = "validatingadmissionpolicy/requester.capture.statecraft.dev"
	replicas := func() string {
		return r.kubectl("get", "deployment", "statecraft-valkey", "-n", r.namespace, "-o", "jsonpath={.spec.replicas}")
	}
	shipped := r.kubectl("get", policy, "-o", "jsonpath={.spec}")
	r.kubectl("scale", "deployment", "statecraft-valkey", "-n", r.namespace, "--replicas=0")
	r.kubectl("patch", policy, "--type=merge", "-p", `{"spec":{"failurePolicy":"Ignore"}}`)
	if out, err := r.helm("upgrade"); err == nil {
		t.Errorf("without force edits by hand are taken back: the docs need not name the flag\n%s", out)
	}
	r.must("upgrade", "--reset-then-reuse-values", "--force-conflicts")
	if is := replicas(); is != "2" {
		t.Errorf("%s managers", is)
	}
	if is := r.kubectl("get", policy, "-o", "jsonpath={.spec}"); is != shipped {
		t.Errorf("the policy is %s", is)
	}
	r.kubectl("delete", policy)
	r.must("upgrade", "--reset-then-reuse-values", "--force-conflicts")
	if is := r.kubectl("get", policy, "-o", "jsonpath={.spec}"); is != shipped {
		t.Errorf("the policy is %s", is)
	}
}

// TestATenantDoesNotStopUpgrades: a namespace of the values may go at any time.
func TestATenantDoesNotStopUpgrades(t *testing.T) {
	r := newRelease(t, "tenants")
	shop, disks := r.namespace+"-shop", r.namespace+"-disks"
	for _, name := range []string{shop, disks} {
		r.kubectl("create", "namespace", name)
		t.Cleanup(func() {
			_, _ = r.bed.Kubectl(context.WithoutCancel(t.Context()), "delete", "namespace", name, "--wait=false")
		})
	}
	values := []string{"--set=areas.valkey.secretsIn={" + r.namespace + "," + shop + "}",
		"--set=areas.capture.restorers[0].namespace=" + disks + ",areas.capture.restorers[0].driver=disks.example.com"}
	if out := r.must("install", values...); strings.Contains(out, "do not exist") {
		t.Errorf("all namespaces exist\n%s", out)
	}
	r.kubectl("get", "rolebinding/statecraft-valkey-secrets", "-n", shop)
	r.kubectl("get", "secret/statecraft-restorer", "-n", disks)
	r.kubectl("delete", "namespace", shop, disks, "--timeout=60s")
	out := strings.Join(strings.Fields(r.must("upgrade", append(values, "--force-conflicts")...)), " ")
	if want := "do not exist, or are being deleted: " + shop + ", " + disks + "."; !strings.Contains(out, want) {
		t.Errorf("it does not say %q: %s", want, out)
	}
	r.kubectl("get", "rolebinding/statecraft-valkey-secrets", "-n", r.namespace)
	r.kubectl("create", "namespace", shop)
	r.must("upgrade", append(values, "--force-conflicts")...)
	r.kubectl("get", "rolebinding/statecraft-valkey-secrets", "-n", shop)
}

// TestManagersElsewhereAreRefused: two elections would have two leaders.
func TestManagersElsewhereAreRefused(t *testing.T) {
	old := newRelease(t, "old")
	old.must("install")
	moved := newRelease(t, "moved")
	out, err := moved.helm("install")
	if err == nil || !strings.Contains(err.Error(), "uninstall release old first: helm uninstall old --namespace="+old.namespace) {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := old.bed.Helm(t.Context(), "uninstall", "old", "-n", old.namespace, "--wait"); err != nil {
		t.Fatal(err)
	}
	moved.must("install")
}
