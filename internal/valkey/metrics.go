package valkey

import (
	"context"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/observe"
)

// Series of each ValkeyCluster. What servers say is of the last look that the manager took anyway:
// no server is asked anything for the sake of a scrape.
var (
	descShards = clusterDesc("shards", "Shards that exist.")
	descSlots  = clusterDesc("slots_served", "Slots, of 16384, whose owner said that it serves them in the last look.")
	descWanted = clusterDesc("servers_wanted", "Servers that the spec asks for.")
	descReady  = clusterDesc("servers_ready", "Servers whose pods are ready.")
	descSynced = clusterDesc("replicas_in_sync", "Replicas that follow their primary, in the last look.")
	descLag    = clusterDesc("replication_lag_bytes", "Bytes of its primary's changes that the replica furthest behind had not applied in the last look.")
	descMemory = clusterDesc("memory_used_bytes", "Memory of the server that is closest to its limit, or uses the most where there is none, in the last look.")
	descLimit  = clusterDesc("memory_limit_bytes", "Limit of that server; absent without one. With evicts, a full server drops keys; else it refuses writes.", "evicts")
	descTaken  = clusterDesc("failovers_total", "How often a shard got another primary, planned or not, since this process leads.")
	descLooked = clusterDesc("last_look_timestamp_seconds", "When the servers were last looked at.")

	metricClusters = kube.NewObjectCollector(descShards, descSlots, descWanted, descReady, descSynced, descLag, descMemory, descLimit, descTaken, descLooked)
)

func clusterDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("statecraft_valkey_"+name, help, append([]string{"namespace", "name"}, labels...), nil)
}

// Metrics are the collectors of the area, for registration and for docs.
func Metrics() []prometheus.Collector { return []prometheus.Collector{metricClusters} }

func init() { metrics.Registry.MustRegister(Metrics()...) }

// clusterSeries makes the series of clusters.
type clusterSeries struct {
	looks     read.Samples[observe.Answers]
	failovers *observe.Failovers
}

// collectClusters serves the series of the clusters that the area caches.
func collectClusters(a *kube.Area, s clusterSeries) error {
	return kube.Collect(a, metricClusters, kube.Objects[*valkeyv1.ValkeyCluster]{
		Kind: clusterKind.Kind,
		List: func(ctx context.Context) (list []*valkeyv1.ValkeyCluster, err error) {
			err = a.Env.EachCached(ctx, &valkeyv1.ValkeyCluster{}, func(obj client.Object) {
				if c, is := obj.(*valkeyv1.ValkeyCluster); is {
					list = append(list, c)
				}
			})
			return list, err
		},
		Series: s.of,
	})
}

// of are the series of one cluster: what its status says, and what its servers said in the last look.
func (s clusterSeries) of(c *valkeyv1.ValkeyCluster) []prometheus.Metric {
	key := client.ObjectKeyFromObject(c)
	list := gauges{c: c}
	list.add(descShards, float64(c.Status.Masters))
	list.add(descWanted, float64(cluster.Wanted(c).Nodes()))
	list.add(descReady, float64(readyServers(c)))
	look := s.looks.Last(key)
	if look.At.IsZero() {
		return list.made
	}
	figures := look.Value.Figures()
	list.add(descLooked, float64(look.At.Unix()))
	list.add(descSlots, float64(figures.SlotsServed))
	list.add(descSynced, float64(figures.ReplicasInSync))
	list.add(descMemory, float64(figures.Memory))
	if figures.Lag.Known {
		list.add(descLag, float64(figures.Lag.Bytes))
	}
	if figures.MemoryLimit > 0 {
		list.add(descLimit, float64(figures.MemoryLimit), strconv.FormatBool(cluster.Evicts(c)))
	}
	return append(list.made, prometheus.MustNewConstMetric(descTaken, prometheus.CounterValue, float64(s.failovers.Of(key)), c.Namespace, c.Name))
}

// gauges are the series of a cluster, one after the other.
type gauges struct {
	c    *valkeyv1.ValkeyCluster
	made []prometheus.Metric
}

func (g *gauges) add(desc *prometheus.Desc, value float64, labels ...string) {
	g.made = append(g.made, prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, append([]string{g.c.Namespace, g.c.Name}, labels...)...))
}

// readyServers reads status.readyNodes, which is for people: "5/6".
func readyServers(c *valkeyv1.ValkeyCluster) int {
	ready, _, _ := strings.Cut(c.Status.ReadyNodes, "/")
	n, _ := strconv.Atoi(ready) // before the first look it is empty, and no server is ready
	return n
}
