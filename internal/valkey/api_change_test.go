package valkey

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// What was decided when a cluster was made is not changed afterwards.
func TestTheAPIServerRefusesSenselessChanges(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, "valkey")
	c := newClient(t, b)
	cluster := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: bedtest.Namespace(t, b), Name: "web"}}
	if err := c.Create(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		change func(*valkeyv1.ValkeyClusterSpec)
		want   string // of the refusal; "" is accepted
	}{
		"more shards":             {change: func(s *valkeyv1.ValkeyClusterSpec) { s.Masters = 5 }},
		"another image":           {change: func(s *valkeyv1.ValkeyClusterSpec) { s.Image = "valkey/valkey:9.0" }},
		"volumes":                 {func(s *valkeyv1.ValkeyClusterSpec) { s.Persistence.Enabled = true }, "decided when a cluster is made"},
		"TLS":                     {func(s *valkeyv1.ValkeyClusterSpec) { s.TLS = &valkeyv1.TLS{SecretName: "x"} }, "decided when a cluster is made"},
		"passwords":               {func(s *valkeyv1.ValkeyClusterSpec) { s.Auth = &valkeyv1.Auth{SecretName: "x"} }, "decided when a cluster is made"},
		"as many to write as are": {func(s *valkeyv1.ValkeyClusterSpec) { s.Replication.MinReplicasToWrite = 1 }, "less than replicasPerMaster"},
		"fewer to write than are": {change: func(s *valkeyv1.ValkeyClusterSpec) {
			s.Replication.MinReplicasToWrite, s.ReplicasPerMaster = 1, ptr.To(int32(2))
		}},
		"what to do on total loss": {change: func(s *valkeyv1.ValkeyClusterSpec) { s.OnTotalLoss = valkeyv1.RecreateOnTotalLoss }},
	} {
		t.Run(name, func(t *testing.T) {
			changed := cluster.DeepCopy()
			tc.change(&changed.Spec)
			err := c.Update(t.Context(), changed, client.DryRunAll)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

// An upgrade is done once: what it was is not changed afterwards.
func TestAnUpgradeIsNotChanged(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, "valkey")
	c := newClient(t, b)
	u := &valkeyv1.ValkeyUpgrade{
		ObjectMeta: metav1.ObjectMeta{Namespace: bedtest.Namespace(t, b), Name: "to-9"},
		Spec:       valkeyv1.ValkeyUpgradeSpec{ClusterRef: valkeyv1.ClusterRef{Name: "web"}, Image: "valkey/valkey:9.0"},
	}
	if err := c.Create(t.Context(), u); err != nil {
		t.Fatal(err)
	}
	u.Spec.Image = "valkey/valkey:8.1"
	if err := c.Update(t.Context(), u, client.DryRunAll); err == nil || !strings.Contains(err.Error(), "spec") {
		t.Errorf("another image: %v", err)
	}
}
