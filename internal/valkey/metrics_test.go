package valkey

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/observe"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// lastLook is what was seen of every cluster.
type lastLook struct{ read.Sample[observe.Answers] }

func (l lastLook) Last(read.Key) read.Sample[observe.Answers] { return l.Sample }

func (l lastLook) Fresh(context.Context, read.Key, time.Duration) read.Sample[observe.Answers] {
	return l.Sample
}

// scrapedCluster collects the series of one cluster.
type scrapedCluster struct {
	clusterSeries
	c *valkeyv1.ValkeyCluster
}

func (o scrapedCluster) Describe(out chan<- *prometheus.Desc) { metricClusters.Describe(out) }

func (o scrapedCluster) Collect(out chan<- prometheus.Metric) {
	for _, m := range o.of(o.c) {
		out <- m
	}
}

func TestSeriesOfAClusterAreOfItsStatusAndTheLastLook(t *testing.T) {
	c := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders"}}
	c.Spec.Masters, c.Status.Masters, c.Status.ReadyNodes = 3, 2, "3/4"
	c.Spec.Config = map[string]valkeyv1.ConfigValue{"maxmemory-policy": "allkeys-lru"}
	look := read.Sample[observe.Answers]{At: time.Unix(100, 0), Value: observe.Answers{Servers: map[string]*topology.Server{
		"a": {
			ID: "a", OK: true, MemoryLimit: 64, Gauges: topology.Gauges{Memory: 32, Offset: 10},
			View: []topology.Peer{{ID: "a", Claim: topology.Claim{Slots: topology.Range(0, 99)}}},
		},
		"b": {
			ID: "b", OK: true, Synced: true, Gauges: topology.Gauges{Offset: 4},
			View: []topology.Peer{{ID: "b", Claim: topology.Claim{Follows: "a"}}},
		},
	}}}
	series := clusterSeries{lastLook{look}, &observe.Failovers{}}
	var want strings.Builder
	for _, line := range []string{
		"failovers_total{%s} 0", "last_look_timestamp_seconds{%s} 100", `memory_limit_bytes{evicts="true",%s} 64`,
		"memory_used_bytes{%s} 32", "replicas_in_sync{%s} 1", "replication_lag_bytes{%s} 6", "servers_ready{%s} 3",
		"servers_wanted{%s} 6", "shards{%s} 2", "slots_served{%s} 100",
	} {
		want.WriteString("statecraft_valkey_" + strings.ReplaceAll(line, "%s", `name="orders",namespace="shop"`) + "\n")
	}
	if got := exposed(t, scrapedCluster{series, c}); got != want.String() {
		t.Errorf("got\n%swant\n%s", got, want.String())
	}
	series.looks = lastLook{}
	if n := testutil.CollectAndCount(scrapedCluster{series, c}); n != 3 {
		t.Errorf("%d series of a cluster that was never looked at", n)
	}
}

// exposed is what a collector serves, without the comments.
func exposed(t *testing.T, c prometheus.Collector) string {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(c)
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).
		ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	lines := slices.Collect(strings.Lines(answer.Body.String()))
	return strings.Join(slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "#") }), "")
}
