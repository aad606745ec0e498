package valkey

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// shards is how many a cluster of the stories has in the end.
const shards = 3

// served asks the servers themselves: there are so many, every slot has one owner, and
// every replica is in sync.
func (s *story) served(found []*unstructured.Unstructured, servers int) error {
	nodes, err := s.ask(found)
	if err != nil {
		return err
	}
	doubt, agree := nodes.Agree()
	count, _, contested := nodes.Assigned()
	_, unsynced := nodes.Unsynced()
	primaries := slices.DeleteFunc(slices.Clone(nodes), func(n topology.Node) bool { return n.Server.Self().Follows != "" })
	switch {
	case !slices.ContainsFunc(found, formed):
		return fmt.Errorf("the cluster is not marked as formed")
	case len(nodes) != servers || len(primaries) != shards:
		return fmt.Errorf("%d servers, of which %d follow nobody; there are %s", len(nodes), len(primaries), names(found))
	case !agree:
		return fmt.Errorf("the servers do not agree: %s", doubt)
	case count != topology.TotalSlots || contested:
		return fmt.Errorf("%d slots are served, contested: %t", count, contested)
	case unsynced:
		return fmt.Errorf("a replica is not in sync")
	}
	return nil
}

func formed(obj *unstructured.Unstructured) bool {
	return obj.GetAnnotations()[valkeyv1.FormedAnnotation] != ""
}

// ask asks the server of every pod.
func (s *story) ask(found []*unstructured.Unstructured) (nodes topology.Nodes, err error) {
	for _, obj := range found {
		if obj.GetKind() != podKind.Kind {
			continue
		}
		var pod corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &pod); err != nil {
			return nil, err
		}
		addr := pod.Status.PodIP + ":6379"
		server, err := s.servers.Ask(context.Background(), addr)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pod.Name, err)
		}
		nodes = append(nodes, topology.Node{Pod: topology.Pod{Name: pod.Name, Addr: addr}, Server: server})
	}
	return nodes, nil
}

// names are those of objects, and which of them are about to go.
func names(found []*unstructured.Unstructured) string {
	var list []string
	for _, obj := range found {
		name := obj.GetKind() + " " + obj.GetName()
		if obj.GetDeletionTimestamp() != nil {
			name += " (leaving)"
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}
