package monitoring

import (
	"context"
	"fmt"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

func TestMain(m *testing.M) { harness.Main(m) }

// watched is a control plane with a manager of each area, and a Prometheus that scrapes them as the chart says.
type watched struct {
	*Prometheus
	c         client.Client
	namespace string
	valkey    *product.Manager
}

func newWatched(t *testing.T) watched {
	t.Helper()
	b := bedtest.ControlPlane(t)
	w := watched{c: harness.Client(t, b, capturev1.AddToScheme, valkeyv1.AddToScheme), namespace: bedtest.Namespace(t, b)}
	var targets []Target
	for _, area := range []string{"capture", "valkey"} {
		address := FreeAddress(t)
		manager := product.NewManager(t, b, area, "--metrics-bind-address="+address)
		manager.Start()
		if area == "valkey" {
			w.valkey = manager
		}
		targets = append(targets, Target{Address: address, Namespace: harness.SystemNamespace, Pod: "statecraft-" + area + "-0", Container: "manager"})
	}
	InstallMonitoring(t, b)
	config := ReadConfig(t, w.c, harness.SystemNamespace)
	config.Targets = targets
	w.Prometheus = Start(t, config)
	return w
}

func (w watched) create(t *testing.T, obj client.Object) {
	t.Helper()
	if err := w.c.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

// A real Prometheus sees objects by their own names, and no longer once they are gone; alerts say which object they are about.
func TestARealPrometheusNamesObjects(t *testing.T) {
	w := newWatched(t)
	t.Run("a keeper has no namespace", w.clusterScoped)
	t.Run("a failed capture", w.failedCapture)
	t.Run("a degraded cluster", w.degradedCluster)
	t.Run("dashboards", w.dashboards)
	t.Run("no manager", func(t *testing.T) {
		w.AwaitSeries(t, `statecraft_leading{area="valkey",shard="1/1",pod="statecraft-valkey-0"} == 1`, 1)
		w.valkey.Kill()
		w.AwaitAlert(t, "ValkeyNoLeader", map[string]string{"area": "valkey"})
		w.AwaitSeries(t, `statecraft_object_info{kind="ValkeyCluster"}`, 0)
	})
	t.Run("no manager leads", w.nobodyLeads)
}

// A manager that runs and is not elected looks well to everybody but Prometheus.
func (w watched) nobodyLeads(t *testing.T) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: "statecraft-valkey"}}
	t.Cleanup(func() { _ = w.c.Delete(context.WithoutCancel(t.Context()), lease) })
	held := `{"spec":{"holderIdentity":"nobody","leaseDurationSeconds":3600}}`
	if err := w.c.Patch(t.Context(), lease, client.RawPatch(types.MergePatchType, []byte(held))); err != nil {
		t.Fatal(err)
	}
	w.valkey.Start()
	w.AwaitAlert(t, "ValkeyNoLeader", map[string]string{"area": "valkey", "shard": "1/1"})
	w.AwaitSeries(t, `statecraft_object_info{kind="ValkeyCluster"}`, 0)
}

// dashboards show all that there is to show where no server runs and nothing was captured.
func (w watched) dashboards(t *testing.T) {
	w.AwaitPanels(t, "capture", "Age of the last good capture (1)", "Time until the deadline (1)")
	w.AwaitPanels(t, "valkey", "Memory of the fullest server (1)", "Replication lag (1)")
}

// What has no namespace must not get that of the manager.
func (w watched) clusterScoped(t *testing.T) {
	k := &capturev1.ObjectKeeper{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	k.Spec.Mode, k.Spec.TTL = capturev1.TTL, &metav1.Duration{Duration: time.Hour}
	w.create(t, k)
	w.AwaitSeries(t, fmt.Sprintf(`statecraft_object_info{kind="ObjectKeeper",namespace="",name=%q,phase="Tracking",class="Steady"}`, k.Name), 1)
	if err := w.c.Delete(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	w.AwaitSeries(t, fmt.Sprintf(`{__name__=~"statecraft_object_.*",name=%q}`, k.Name), 0)
}

func (w watched) failedCapture(t *testing.T) {
	var last client.Object
	for _, name := range []string{"nightly", "weekly"} {
		r := &capturev1.VolumeCaptureRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: name}}
		r.Spec.Target.Name = "no-such-claim"
		w.create(t, r)
		w.AwaitAlert(t, "CaptureFailed", map[string]string{"kind": "VolumeCaptureRequest", "namespace": w.namespace, "name": name})
		last = r
	}
	if err := w.c.Delete(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	w.AwaitSeries(t, fmt.Sprintf(`{__name__=~"statecraft_object_.*",namespace=%q,name="weekly"}`, w.namespace), 0)
	w.AwaitSeries(t, fmt.Sprintf(`statecraft_object_info{namespace=%q,name="nightly"}`, w.namespace), 1)
}

// There are no nodes, so no server ever runs: a cluster that is said to have been formed lacks all of them.
func (w watched) degradedCluster(t *testing.T) {
	c := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "orders"}}
	c.Spec.ReplicasPerMaster = ptr.To[int32](1)
	w.create(t, c)
	named := fmt.Sprintf(`namespace=%q,name="orders"`, w.namespace)
	w.AwaitSeries(t, `statecraft_object_info{kind="ValkeyCluster",`+named+`,phase="WaitingForPods",class="Working"}`, 1)
	w.AwaitSeries(t, `statecraft_object_deadline_timestamp_seconds{`+named+`} > time()`, 1)
	mark := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: c.Name}}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:"true"}}}`, valkeyv1.FormedAnnotation)
	if err := w.c.Patch(t.Context(), mark, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
	status := fmt.Sprintf(`{"status":{"phase":%q,"deadline":null}}`, cluster.Running)
	if err := w.c.Status().Patch(t.Context(), c, client.RawPatch(types.MergePatchType, []byte(status))); err != nil {
		t.Fatal(err)
	}
	w.AwaitAlert(t, "ValkeyClusterDegraded", map[string]string{"kind": "ValkeyCluster", "namespace": w.namespace, "name": "orders"})
	w.AwaitSeries(t, `statecraft_valkey_servers_wanted{`+named+`} == 6`, 1)
	w.AwaitSeries(t, `time() - statecraft_valkey_last_look_timestamp_seconds{`+named+`} < 60`, 1)
}
