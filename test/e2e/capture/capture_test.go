// Package capture tests area capture on real nodes, with the manager in pods.
package capture

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	area     = "capture"
	rolledIn = "120s"
	within   = timeout.Wait
	poll     = 250 * time.Millisecond
)

// TestAKeeperKeepsAndGoes follows the page of the area: install, follow, look, let go.
func TestAKeeperKeepsAndGoes(t *testing.T) {
	b := bedtest.Nodes(t, 1, bed.CSI)
	harness.Install(t, b, area)
	product.Deploy(t, b, area, rolledIn)
	namespace := bedtest.Namespace(t, b)
	kubectl := func(args ...string) string { return run(t, b, args...) }

	kubectl("apply", "-f", filepath.Join(harness.Root(t), "config", "samples", area, "followable.yaml"))
	kubectl("create", "configmap", "settings", "-n", namespace, "--from-literal=colour=blue")
	uid := kubectl("get", "configmap", "settings", "-n", namespace, "-o", "jsonpath={.metadata.uid}")
	harness.Apply(t, b, keeper(namespace, uid))
	kubectl("wait", "--for=condition=Ready", "ok/"+namespace, "--timeout=60s")
	if row := kubectl("get", "ok", namespace, "--no-headers"); !strings.Contains(row, "Tracking") {
		t.Errorf("kubectl get ok: %s", row)
	}
	owner := kubectl("get", "ok", namespace, "-o", "jsonpath={.metadata.uid}")
	harness.Apply(t, b, artifact(namespace, owner))

	kubectl("delete", "configmap", "settings", "-n", namespace)
	harness.Eventually(t, within, poll, func() error {
		_, err := b.Kubectl(t.Context(), "wait", "--for=delete", "ok/"+namespace, "configmap/artifact", "-n", namespace, "--timeout=1s")
		return err
	})
}

func run(t *testing.T, b *bed.Bed, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := b.Kubectl(ctx, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(out)
}

func keeper(namespace, uid string) string {
	return `
apiVersion: capture.statecraft.dev/v1alpha1
kind: ObjectKeeper
metadata: {name: ` + namespace + `}
spec:
  followRef: {apiVersion: v1, kind: ConfigMap, namespace: ` + namespace + `, name: settings, uid: ` + uid + `}`
}

func artifact(namespace, owner string) string {
	return `
apiVersion: v1
kind: ConfigMap
metadata:
  name: artifact
  namespace: ` + namespace + `
  ownerReferences:
  - {apiVersion: capture.statecraft.dev/v1alpha1, kind: ObjectKeeper, name: ` + namespace + `, uid: ` + owner + `, controller: true}`
}
