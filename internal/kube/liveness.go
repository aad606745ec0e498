package kube

import (
	"context"
	"fmt"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// versionOf is the version by which a kind is read. Ours are of one; a second one
// brings its own conversion. What others reserve or are reserved for is Kubernetes'
// own: claims, pods, nodes, workloads.
func versionOf(group string) string {
	if strings.HasSuffix(group, ".statecraft.dev") {
		return "v1alpha1"
	}
	return "v1"
}

// RefOf names an object for good, such as RefOf("ValkeyUpgrade", "valkey.statecraft.dev", u).
func RefOf(kind, group string, obj metav1.Object) read.Ref {
	return read.Ref{Kind: kind + "." + group, Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID()}
}

// getRef reads an object live. nil without an error is the API server's word that
// it is gone: its name is free, or another object has it.
func getRef(ctx context.Context, live read.Live, ref read.Ref) (*unstructured.Unstructured, error) {
	gk := schema.ParseGroupKind(ref.Kind)
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(gk.WithVersion(versionOf(gk.Group)))
	err := live.Get(ctx, read.Key{Namespace: ref.Namespace, Name: ref.Name}, obj)
	switch {
	case read.SaysGone(err, ref.Name):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", ref.Title(), err)
	case obj.GetUID() != ref.UID:
		return nil, nil
	}
	return obj, nil
}

// alive tells whether the holder of a reservation may still be at work: it exists
// and has not ended. A one-shot has ended when it says Ready, True or False;
// until then it says nothing (see fsm). A standing kind never ends: it gives back.
func alive(live read.Live, oneShot func(kind string) bool) read.Liveness {
	return func(ctx context.Context, holder read.Ref) (bool, error) {
		obj, err := getRef(ctx, live, holder)
		if err != nil || obj == nil {
			return false, err
		}
		return !oneShot(holder.Kind) || !ended(obj), nil
	}
}

func ended(obj *unstructured.Unstructured) bool {
	var status struct {
		Conditions []metav1.Condition `json:"conditions"`
	}
	if err := fromMap(obj.Object["status"], &status); err != nil {
		return false
	}
	ready := apimeta.FindStatusCondition(status.Conditions, fsm.Ready)
	return ready != nil && ready.Status != metav1.ConditionUnknown
}
