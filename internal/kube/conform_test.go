package kube_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
	"github.com/statecraft-dev/statecraft/internal/kube/storetest"
)

// The same is tried on a real API server in test/integration/kube.
func TestStatusStore(t *testing.T)     { storetest.Conform(t, storetest.Lamps(newFake(t), "room")) }
func TestAnnotationStore(t *testing.T) { storetest.Conform(t, storetest.Pods(newFake(t), "room")) }

func newFake(t *testing.T) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, kubetest.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&kubetest.Lamp{}).
		WithInterceptorFuncs(interceptor.Funcs{SubResourcePatch: patchPodStatus}).Build()
}

// patchPodStatus does with a Pod what a real API server does: all metadata but owners is written
// together with the status. The fake client would write the status alone.
//
//nolint:revive // the signature is the fake client's
func patchPodStatus(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	pod, is := obj.(*corev1.Pod)
	if !is {
		return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
	}
	data, err := patch.Data(pod)
	if err != nil {
		return err
	}
	was := &corev1.Pod{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(pod), was); err != nil {
		return err
	}
	next, err := merged(was, data)
	if err != nil {
		return err
	}
	if next.ResourceVersion != was.ResourceVersion {
		return apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, pod.Name, errors.New("modified"))
	}
	next.Spec, next.OwnerReferences = was.Spec, was.OwnerReferences
	status := next.Status
	if err := c.Update(ctx, next); err != nil {
		return err
	}
	next.Status = status
	if err := c.Status().Update(ctx, next); err != nil {
		return err
	}
	*pod = *next
	return nil
}

func merged(was *corev1.Pod, patch []byte) (*corev1.Pod, error) {
	into, err := runtime.DefaultUnstructuredConverter.ToUnstructured(was)
	if err != nil {
		return nil, err
	}
	changes, next := map[string]any{}, &corev1.Pod{}
	if err := json.Unmarshal(patch, &changes); err != nil {
		return nil, err
	}
	merge(into, changes)
	return next, runtime.DefaultUnstructuredConverter.FromUnstructured(into, next)
}

// merge applies a JSON merge patch.
func merge(into, changes map[string]any) {
	for key, change := range changes {
		deeper, is := change.(map[string]any)
		below, has := into[key].(map[string]any)
		switch {
		case change == nil:
			delete(into, key)
		case is && has:
			merge(below, deeper)
		default:
			into[key] = change
		}
	}
}
