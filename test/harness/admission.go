package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
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
var inForce = map[string]func(context.Context, *bed.Bed) error{"capture": captureInForce, "remediation": remediationInForce}

// captureInForce tries what two policies forbid: the one that stamps, and the one that is applied last,
// which even administrators feel. Nothing is written.
func captureInForce(ctx context.Context, b *bed.Bed) error {
	made, err := tryCreate(ctx, b, captureKinds.WithKind("VolumeCaptureRequest"), metav1.NamespaceDefault, map[string]any{
		"target": map[string]any{"name": "probe"}, "requester": map[string]any{"username": forger},
	})
	if err != nil {
		return fmt.Errorf("no requester is stamped yet: %w", err)
	}
	if name, _, _ := unstructured.NestedString(made.Object, "spec", "requester", "username"); name == forger {
		return errors.New("a requester can be forged still")
	}
	_, err = tryCreate(ctx, b, captureKinds.WithKind("ManifestCaptureRequest"), SystemNamespace, map[string]any{"selector": map[string]any{}})
	if !apierrors.IsForbidden(err) {
		return fmt.Errorf("the last policy is not in force yet: %w", err)
	}
	return oldEnough(ctx, b)
}

// remediationInForce tries what two policies do, the one that stamps and one that refuses. The others are in force long
// before the manager relies on them. Nothing is written.
func remediationInForce(ctx context.Context, b *bed.Bed) error {
	made, err := tryCreate(ctx, b, remediationKinds.WithKind("ExecutionApproval"), metav1.NamespaceDefault, map[string]any{
		"executionRef": map[string]any{"name": "probe", "uid": "probe"}, "decision": "Acknowledged", "approver": map[string]any{"username": forger},
	})
	if err != nil {
		return fmt.Errorf("no approver is stamped yet: %w", err)
	}
	if name, _, _ := unstructured.NestedString(made.Object, "spec", "approver", "username"); name == forger {
		return errors.New("an approver can be forged still")
	}
	_, err = tryCreate(ctx, b, remediationKinds.WithKind("KubernetesExecution"), SystemNamespace, map[string]any{
		"action": "probe", "target": map[string]any{"kind": "Probe", "name": "probe"},
	})
	if !apierrors.IsForbidden(err) {
		return fmt.Errorf("the policies are not in force yet: %w", err)
	}
	return oldEnough(ctx, b)
}

// vouchesAfter is more than the manager wants of a policy before it relies on it: requests that are younger than the
// policies by less are refused.
const vouchesAfter = 11 * time.Second

// oldEnough says nil once the manager relies on the policies.
func oldEnough(ctx context.Context, b *bed.Bed) error {
	admin, err := dynamic.NewForConfig(b.Config())
	if err != nil {
		return err
	}
	for _, resource := range []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings"} {
		list, err := admin.Resource(admissionv1.SchemeGroupVersion.WithResource(resource)).List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/part-of=statecraft"})
		if err != nil {
			return err
		}
		for _, obj := range list.Items {
			if since := time.Since(writtenAt(&obj)); since < vouchesAfter {
				return fmt.Errorf("%s %s was written %s ago", obj.GetKind(), obj.GetName(), since)
			}
		}
	}
	return nil
}

func writtenAt(obj metav1.Object) time.Time {
	at := obj.GetCreationTimestamp().Time
	for _, by := range obj.GetManagedFields() {
		if by.Subresource == "" && by.Time != nil && by.Time.After(at) {
			at = by.Time.Time
		}
	}
	return at
}

const forger = "somebody-else"

// The kinds that are tried.
var (
	captureKinds     = schema.GroupVersion{Group: "capture.statecraft.dev", Version: "v1alpha1"}
	remediationKinds = schema.GroupVersion{Group: "remediation.statecraft.dev", Version: "v1alpha1"}
)

func tryCreate(ctx context.Context, b *bed.Bed, kind schema.GroupVersionKind, namespace string, spec map[string]any) (*unstructured.Unstructured, error) {
	admin, err := dynamic.NewForConfig(b.Config())
	if err != nil {
		return nil, err
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	obj.SetGroupVersionKind(kind)
	obj.SetGenerateName("probe-")
	return admin.Resource(kind.GroupVersion().WithResource(strings.ToLower(kind.Kind)+"s")).Namespace(namespace).
		Create(ctx, obj, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
}
