package valkey

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

func TestTheAPIServerRefusesSenselessClusters(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, "valkey")
	c := newClient(t, b)
	for name, tc := range map[string]struct {
		change func(*valkeyv1.ValkeyCluster)
		want   string // of the refusal; "" is accepted
	}{
		"nothing but a name":           {change: func(*valkeyv1.ValkeyCluster) {}},
		"no replicas":                  {change: func(c *valkeyv1.ValkeyCluster) { c.Spec.ReplicasPerMaster = ptr.To(int32(0)) }},
		"two masters":                  {change: func(c *valkeyv1.ValkeyCluster) { c.Spec.Masters = 2 }, want: "greater than or equal to 3"},
		"too many masters":             {change: func(c *valkeyv1.ValkeyCluster) { c.Spec.Masters = 251 }, want: "less than or equal to 250"},
		"too many replicas":            {change: func(c *valkeyv1.ValkeyCluster) { c.Spec.ReplicasPerMaster = ptr.To(int32(6)) }, want: "less than or equal to 5"},
		"the longest name":             {change: func(c *valkeyv1.ValkeyCluster) { c.Name = strings.Repeat("a", 48) }},
		"a name that is too long":      {change: func(c *valkeyv1.ValkeyCluster) { c.Name = strings.Repeat("a", 49) }, want: "DNS-1035 label of at most 48"},
		"a name that is no Service's":  {change: func(c *valkeyv1.ValkeyCluster) { c.Name = "7-dwarfs" }, want: "DNS-1035 label"},
		"a name with a dot":            {change: func(c *valkeyv1.ValkeyCluster) { c.Name = "web.shop" }, want: "DNS-1035 label"},
		"an image with a space":        {change: func(c *valkeyv1.ValkeyCluster) { c.Spec.Image = "valkey 8" }, want: "spec.image"},
		"a timeout of a day":           {change: func(c *valkeyv1.ValkeyCluster) { c.Spec.NodeTimeoutSeconds = 86400 }, want: "less than or equal to 300"},
		"a limit of slots on the move": {change: atMost("20Mi")},
		"a limit of nothing":           {change: atMost("0"), want: "would not get on"},
		"a setting":                    {change: config("maxmemory-policy", "allkeys-lru")},
		"the port":                     {change: config("port", "7000"), want: "operator's own"},
		"the bus":                      {change: config("cluster-require-full-coverage", "yes"), want: "operator's own"},
		"replication":                  {change: config("replica-priority", "0"), want: "operator's own"},
		"replication by its old name":  {change: config("slaveof", "somewhere 6379"), want: "operator's own"},
		"TLS":                          {change: config("tls-port", "6380"), want: "operator's own"},
		"another file":                 {change: config("include", "/etc/passwd"), want: "operator's own"},
		"a module":                     {change: config("loadmodule", "/tmp/x.so"), want: "operator's own"},
		"a setting in capitals":        {change: config("PORT", "7000"), want: "lower case"},
		"a label for pods":             {change: func(c *valkeyv1.ValkeyCluster) { c.Spec.Pods.Labels = map[string]string{"team": "shop"} }},
		"a label that finds pods": {
			change: func(c *valkeyv1.ValkeyCluster) {
				c.Spec.Pods.Labels = map[string]string{valkeyv1.ClusterLabel: "other"}
			}, want: "not yours to set",
		},
		"a window":                 {change: maintained("Europe/Vienna", "02:30", "1h30m", "Sat", "Sun")},
		"a window of five minutes": {change: maintained("UTC", "02:30", "5m"), want: "open for 15m to 24h"},
		"a window of two days":     {change: maintained("UTC", "02:30", "48h"), want: "open for 15m to 24h"},
		"a window of no length":    {change: maintained("UTC", "02:30", "long"), want: "windows[0].duration"},
		"a window at no time":      {change: maintained("UTC", "24:00", "1h"), want: "windows[0].start"},
		"a window on no day":       {change: maintained("UTC", "02:30", "1h", "Sunday"), want: "windows[0].days[0]"},
		"a window of the machine":  {change: maintained("Local", "02:30", "1h"), want: "name a zone"},
		"no windows":               {change: func(c *valkeyv1.ValkeyCluster) { c.Spec.Maintenance = &valkeyv1.Maintenance{} }, want: "maintenance.windows"},
		"two lines":                {change: config("hz", "10\nport 7000"), want: "should match"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
			tc.change(cluster)
			err := c.Create(t.Context(), cluster, client.DryRunAll)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}

func atMost(perSecond string) func(*valkeyv1.ValkeyCluster) {
	return func(c *valkeyv1.ValkeyCluster) {
		c.Spec.SlotMigration.MaxBytesPerSecond = ptr.To(resource.MustParse(perSecond))
	}
}

func maintained(zone, start, duration string, days ...valkeyv1.Weekday) func(*valkeyv1.ValkeyCluster) {
	return func(c *valkeyv1.ValkeyCluster) {
		c.Spec.Maintenance = &valkeyv1.Maintenance{TimeZone: zone, Windows: []valkeyv1.MaintenanceWindow{{Days: days, Start: start, Duration: duration}}}
	}
}

func config(directive string, value valkeyv1.ConfigValue) func(*valkeyv1.ValkeyCluster) {
	return func(c *valkeyv1.ValkeyCluster) {
		c.Spec.Config = map[string]valkeyv1.ConfigValue{directive: value}
	}
}

func TestDefaults(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, "valkey")
	c := newClient(t, b)
	cluster := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	if err := c.Create(t.Context(), cluster, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	s := cluster.Spec
	if s.Masters != 3 || ptr.Deref(s.ReplicasPerMaster, -1) != 1 || s.Image != "valkey/valkey:8.1" || s.NodeTimeoutSeconds != 5 || s.Paused {
		t.Errorf("defaults %+v", s)
	}
}

func TestSamplesAndExplanations(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, "valkey")
	samples := filepath.Join(harness.Root(t), "config", "samples", "valkey")
	if out, err := b.Kubectl(t.Context(), "apply", "--dry-run=server", "-f", samples); err != nil {
		t.Errorf("apply samples: %v\n%s", err, out)
	}
	out, err := b.Kubectl(t.Context(), "explain", "valkeycluster.spec")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"number of shards", "in seconds", "Default 5.", "operator's own", "three quarters"} {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("kubectl explain does not say %q:\n%s", want, out)
		}
	}
	for _, words := range [][]string{{"get", "vkc"}, {"get", "statecraft"}} {
		if out, err := b.Kubectl(t.Context(), words...); err != nil {
			t.Errorf("%v: %v\n%s", words, err, out)
		}
	}
}
