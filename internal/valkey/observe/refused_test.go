package observe

import (
	"context"
	"fmt"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// replies is what comes of asking, by address.
type replies map[string]error

func (r replies) Ask(_ context.Context, addr string) (*topology.Server, error) {
	if err := r[addr]; err != nil {
		return nil, fmt.Errorf("ask %s: %w", addr, err)
	}
	return &topology.Server{ID: addr}, nil
}

// Who refuses is known not to listen, who is silent may be anything.
func TestWhoRefusesIsToldFromWhoIsSilent(t *testing.T) {
	servers := replies{"10.0.0.2:6379": fmt.Errorf("%w: %w", wire.ErrUnreachable, wire.ErrNobody), "10.0.0.3:6379": wire.ErrUnreachable}
	pods := []corev1.Pod{runningPod("web-0-0", "10.0.0.1", "web-0"), runningPod("web-1-0", "10.0.0.2", "web-1"), runningPod("web-2-0", "10.0.0.3", "web-2")}
	s := Servers{Cached: shelf{pods: pods}, Door: func(context.Context, read.Key) (wire.Reader, error) { return servers, nil }}
	got, err := s.Take(t.Context(), web)
	if err != nil || len(got.Servers) != 1 || got.Servers["10.0.0.1:6379"] == nil || !maps.Equal(got.Refused, map[string]bool{"10.0.0.2:6379": true}) {
		t.Errorf("%+v, %v", got, err)
	}
	servers["10.0.0.3:6379"] = wire.ErrNobody
	next, err := s.Take(t.Context(), web)
	if err != nil || Same(got, next) {
		t.Error("that another refuses is nothing new")
	}
}

func TestPrimariesAreThoseWithSlots(t *testing.T) {
	a := Answers{Servers: map[string]*topology.Server{
		"a": {ID: "a", View: []topology.Peer{{ID: "a", Claim: topology.Claim{Slots: "0-16383"}}}},
		"b": {ID: "b", View: []topology.Peer{{ID: "b", Claim: topology.Claim{Follows: "a"}}}},
		"c": {ID: "c", View: []topology.Peer{{ID: "c"}}},
	}}
	if got := a.Primaries(); len(got) != 1 || got[0] != "a" {
		t.Error(got)
	}
}
