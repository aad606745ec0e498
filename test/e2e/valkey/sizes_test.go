//go:build full

package valkey

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/valkey-io/valkey-go"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestCreateSizes makes clusters of two sizes, open and secured. What Kubernetes' own tool waits for is true when it
// comes back: every server has the same view, down to who belongs to which shard.
func TestCreateSizes(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	for _, size := range []size{{3, 1}, {5, 2}} {
		for _, secured := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d × %d, secured %t", size.masters, size.replicas, secured), func(t *testing.T) {
				s.of(t).createAndJudge(size, secured)
			})
		}
	}
}

func (s *stage) createAndJudge(size size, secured bool) {
	s.T.Helper()
	namespace := bedtest.Namespace(s.T, s.Bed)
	change, option := plain, func(addr string) valkey.ClientOption {
		return valkey.ClientOption{InitAddress: []string{addr}, DisableCache: true}
	}
	if secured {
		safe := s.secure(namespace)
		change, option = safe.change, safe.option
	}
	began := time.Now()
	vkc := s.createAs(namespace, func(v *valkeyv1.ValkeyCluster) {
		change(v)
		v.Spec.Masters, v.Spec.ReplicasPerMaster = size.masters, &size.replicas
	})
	s.kubectl("wait", "-n", namespace, "vkc/"+vkc.Name, "--for=condition=Ready", "--timeout=3m")
	took := time.Since(began)
	views := map[string][]string{}
	for pod, p := range s.pods(vkc) {
		view := s.view(option(net.JoinHostPort(p.Status.PodIP, strconv.Itoa(valkeyv1.ClientPort))))
		views[view] = append(views[view], pod)
	}
	if len(views) != 1 {
		s.T.Errorf("kubectl says Ready, and servers differ: %v", views)
	}
	s.running(vkc)
	if err := has(vkc, size); err != nil {
		s.T.Error(err)
	}
	harness.Row(s.T, "Ready after %s; %s slots, %s nodes of one view", took.Round(100*time.Millisecond), vkc.Status.AssignedSlots, vkc.Status.ReadyNodes)
	s.empty(namespace, vkc)
}

// view is who is in which shard with which slots, as one server sees it.
func (s *stage) view(option valkey.ClientOption) string {
	s.T.Helper()
	option.ForceSingleClient = true
	client, err := valkey.NewClient(option)
	s.must(err)
	defer client.Close()
	shards, err := client.Do(s.T.Context(), client.B().ClusterShards().Build()).ToArray()
	s.must(err)
	var view []string
	for _, shard := range shards {
		fields, err := shard.AsMap()
		s.must(err)
		slots, nodes := fields["slots"], fields["nodes"]
		ranges, err := slots.AsIntSlice()
		s.must(err)
		members, err := nodes.ToArray()
		s.must(err)
		var ids []string
		for _, member := range members {
			about, err := member.AsStrMap()
			s.must(err)
			ids = append(ids, strings.Join([]string{about["id"], about["role"], about["health"]}, " "))
		}
		slices.Sort(ids)
		view = append(view, fmt.Sprint(ranges, ids))
	}
	slices.Sort(view)
	return strings.Join(view, "\n")
}
