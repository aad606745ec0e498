package product

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/monitoring"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// TestPrometheusWatchesTheProduct: a real Prometheus scrapes the managers; every panel shows something, and alerts name
// the object that is in trouble.
func TestPrometheusWatchesTheProduct(t *testing.T) {
	s := newStage(t, config.Namespace)
	monitoring.InstallKinds(t, s.bed)
	s.install(release, first, monitoring.Values)
	namespace := bedtest.Namespace(t, s.bed)
	p := s.prometheus()
	s.create(cluster(namespace, "orders", func(vkc *valkeyv1.ValkeyCluster) {
		vkc.Spec.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}
	}))
	s.captures(namespace)
	s.condition(namespace, "vkc/orders", "Ready")
	named := fmt.Sprintf("{namespace=%q,name=\"orders\"}", namespace)
	for metric, want := range map[string]string{"slots_served": "== 16384", "replicas_in_sync": "== 3", "servers_ready": "== 6", "memory_used_bytes": "> 0", "memory_limit_bytes": "> 0"} {
		p.AwaitSeries(t, "statecraft_valkey_"+metric+named+want, 1)
	}
	p.AwaitPanels(t, "valkey")
	p.AwaitPanels(t, "capture")
	s.runsAClass(namespace)
	s.asksForARepair(namespace)
	p.AwaitPanels(t, "runtime")
	p.AwaitPanels(t, "remediation", "Time in executing (1)") // nothing is carried out

	p.AwaitAlert(t, "CaptureFailed", map[string]string{"kind": "VolumeCaptureRequest", "namespace": namespace, "name": "no-such-claim"})
	before := s.failovers(p, named)
	s.degrade(namespace, s.kubectl("get", "vkc", "orders", "-n", namespace, "-o", "jsonpath={.status.shards[1].primary}")) // whichever that is by now
	p.AwaitAlert(t, "ValkeyClusterDegraded", map[string]string{"kind": "ValkeyCluster", "namespace": namespace, "name": "orders"})
	harness.Eventually(t, timeout.Wait, poll, func() error {
		if n := s.failovers(p, named); n <= before {
			return fmt.Errorf("%d failovers, and %d before a server was removed", n, before)
		}
		return nil
	})
	s.kubectl("scale", "deployment", "-n", s.system, "statecraft-valkey", "--replicas=0")
	p.AwaitAlert(t, "ValkeyNoLeader", map[string]string{"area": "valkey"})
}

// failovers is how many of a cluster are counted. One of before, on a busy machine, is not the one that a test waits for.
func (s *stage) failovers(p *monitoring.Prometheus, named string) int {
	s.Helper()
	found, err := p.Query("statecraft_valkey_failovers_total" + named)
	if err != nil || len(found) != 1 {
		s.Fatalf("failovers: %v, %v", found, err)
	}
	n, err := strconv.Atoi(fmt.Sprint(found[0].Value[1]))
	if err != nil {
		s.Fatal(err)
	}
	return n
}

// prometheus scrapes every manager by the address of its pod, and judges by alerts, as the chart tells the Prometheus operator.
func (s *stage) prometheus() *monitoring.Prometheus {
	s.Helper()
	c := monitoring.ReadConfig(s, s.client, s.system)
	c.Targets = monitoring.Targets(s, s.client, s.system)
	return monitoring.Start(s, c)
}

// captures makes a capture that succeeds, one that fails, and one that waits for its claim.
func (s *stage) captures(namespace string) {
	s.Helper()
	s.claim(namespace)
	harness.Apply(s, s.bed, fmt.Sprintf(`apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: unused, namespace: %s}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: %s
  resources: {requests: {storage: 16Mi}}
`, namespace, bed.CSIWaitClass))
	<-time.After(inForceAfter)
	for _, claim := range []string{"payroll", "no-such-claim", "unused"} {
		s.create(captureOf(namespace, claim))
	}
	s.condition(namespace, "vcr/payroll", "Ready")
}

// degrade deletes a pod while no other can be scheduled in its place.
func (s *stage) degrade(namespace, pod string) {
	s.Helper()
	nodes := strings.Fields(s.kubectl("get", "nodes", "-o", "name"))
	s.Cleanup(func() {
		_, _ = s.bed.Kubectl(context.WithoutCancel(s.Context()), append([]string{"uncordon"}, nodes...)...)
	})
	s.kubectl(append([]string{"cordon"}, nodes...)...)
	s.kubectl("delete", "pod", "-n", namespace, pod, "--wait=false")
}
