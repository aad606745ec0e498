package valkey

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// served asks the servers themselves: every slot has one owner, and every shard a
// replica that is in sync.
func (s *story) served(found []*unstructured.Unstructured) error {
	var nodes topology.Nodes
	formed := false
	for _, obj := range found {
		formed = formed || obj.GetAnnotations()[valkeyv1.FormedAnnotation] != ""
		if obj.GetKind() != podKind.Kind {
			continue
		}
		var pod corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &pod); err != nil {
			return err
		}
		addr := pod.Status.PodIP + ":6379"
		server, err := s.servers.Ask(context.Background(), addr)
		if err != nil {
			return fmt.Errorf("%s: %w", pod.Name, err)
		}
		nodes = append(nodes, topology.Node{Pod: topology.Pod{Name: pod.Name, Addr: addr}, Server: server})
	}
	doubt, agree := nodes.Agree()
	count, _, contested := nodes.Assigned()
	_, unsynced := nodes.Unsynced()
	primaries := slices.DeleteFunc(slices.Clone(nodes), func(n topology.Node) bool { return n.Server.Self().Follows != "" })
	switch {
	case !formed:
		return fmt.Errorf("the cluster is not marked as formed")
	case len(nodes) != 6:
		return fmt.Errorf("%d pods, not 6", len(nodes))
	case !agree:
		return fmt.Errorf("the servers do not agree: %s", doubt)
	case count != topology.TotalSlots || contested:
		return fmt.Errorf("%d slots are served, contested: %t", count, contested)
	case len(primaries) != 3:
		return fmt.Errorf("%d servers follow nobody, not 3", len(primaries))
	case unsynced:
		return fmt.Errorf("a replica is not in sync")
	}
	return nil
}
