package product

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// releases are names and namespaces; the first is what other tests install.
var releases = [][2]string{{release, config.Namespace}, {"prod", "platform"}}

// TestInstallFromNothing: a release of any name in any namespace runs all areas, and says what they do.
func TestInstallFromNothing(t *testing.T) {
	for _, at := range harness.ByLevel(releases[1:], releases) {
		t.Run(at[0]+" in "+at[1], func(t *testing.T) {
			s := newStage(t, at[1])
			harness.Row(t, "managers ready %.1f s after helm install", s.install(at[0], first).Seconds())
			s.othersWork(s.works().Namespace)
		})
	}
}

// works makes a cluster with volumes, captures one of them, and asks for both.
func (s *stage) works() *valkeyv1.ValkeyCluster {
	s.Helper()
	namespace := bedtest.Namespace(s.T, s.bed)
	vkc := cluster(namespace, "orders", withVolumes)
	s.create(vkc)
	s.condition(namespace, "vkc/orders", "Ready")
	const claim = "data-orders-0-0"
	s.create(captureOf(namespace, claim)) // the cluster took longer than the policies need to be in force
	s.condition(namespace, "vcr/"+claim, "Ready")
	answer, code := s.plugin("status", "-n", namespace)
	says(s.T, answer, code, 0, "orders", "Running", claim)
	answer, code = s.plugin("why", "vkc/orders", "-n", namespace)
	says(s.T, answer, code, 0, "Running")
	answer, code = s.plugin("why", "vcr/"+claim, "-n", namespace)
	says(s.T, answer, code, 0, claim)
	return vkc
}

// othersWork uses the areas that keep no data.
func (s *stage) othersWork(namespace string) {
	s.Helper()
	s.runsAClass(namespace)
	answer, code := s.plugin("status", "crt/cart", "-n", namespace)
	says(s.T, answer, code, 0, "available")
	s.asksForARepair(namespace)
	answer, code = s.plugin("why", "kx/more", "-n", namespace)
	says(s.T, answer, code, 1, "waiting_approval")
}

// withVolumes is a cluster on the one node that has a CSI driver.
func withVolumes(vkc *valkeyv1.ValkeyCluster) {
	none, class, size := int32(0), bed.CSIClass, resource.MustParse("64Mi")
	vkc.Spec.ReplicasPerMaster = &none
	vkc.Spec.Persistence = valkeyv1.Persistence{Enabled: true, Size: &size, StorageClassName: &class, WhenDeleted: valkeyv1.DeleteVolumes}
}
