package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/statecraft-dev/statecraft/test/bed"
)

// policiesPoll is often: the API server looks for new policies about once a second.
const policiesPoll = 100 * time.Millisecond

// inForce says nil once the admission policies of an area are.
var inForce = map[string]func(context.Context, *bed.Bed) error{"capture": captureInForce}

// captureInForce tries what two policies forbid: the one that stamps, and the one that is applied last,
// which even administrators feel. Nothing is written.
func captureInForce(ctx context.Context, b *bed.Bed) error {
	made, err := tryCreate(ctx, b, metav1.NamespaceDefault, "VolumeCaptureRequest", map[string]any{
		"target": map[string]any{"name": "probe"}, "requester": map[string]any{"username": forger},
	})
	if err != nil {
		return fmt.Errorf("no requester is stamped yet: %w", err)
	}
	if name, _, _ := unstructured.NestedString(made.Object, "spec", "requester", "username"); name == forger {
		return errors.New("a requester can be forged still")
	}
	_, err = tryCreate(ctx, b, SystemNamespace, "ManifestCaptureRequest", map[string]any{"selector": map[string]any{}})
	if !apierrors.IsForbidden(err) {
		return fmt.Errorf("the last policy is not in force yet: %w", err)
	}
	return nil
}

const forger = "somebody-else"

func tryCreate(ctx context.Context, b *bed.Bed, namespace, kind string, spec map[string]any) (*unstructured.Unstructured, error) {
	admin, err := dynamic.NewForConfig(b.Config())
	if err != nil {
		return nil, err
	}
	version := schema.GroupVersion{Group: "capture.statecraft.dev", Version: "v1alpha1"}
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	obj.SetGroupVersionKind(version.WithKind(kind))
	obj.SetGenerateName("probe-")
	return admin.Resource(version.WithResource(strings.ToLower(kind)+"s")).Namespace(namespace).
		Create(ctx, obj, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}
