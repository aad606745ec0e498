package kube

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// What an AnnotationStore rests on: one patch of pods/status writes status and annotations, also by a
// kubelet; and what else of the metadata such a patch lets through, so that a Store must leave it out.
func TestAPatchOfThePodStatusWritesAnnotations(t *testing.T) {
	b := lamps(t)
	admin, namespace := newClient(t, b.Config()), podNamespace(t, b)
	node := create(t, admin, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-" + namespace}})
	t.Cleanup(func() { _ = admin.Delete(context.WithoutCancel(t.Context()), node) })
	kubelet := newClient(t, b.ConfigFor("system:node:"+node.Name, "system:nodes"))
	for what, c := range map[string]struct {
		patch          string
		admin, kubelet string // what comes of it
	}{
		"status":        {`{"status":{"message":"theirs"}}`, "written", "written"},
		"annotations":   {`{"status":{"message":"theirs"},"metadata":{"annotations":{"a":"1"}}}`, "written", "written"},
		"labels":        {`{"metadata":{"labels":{"a":"1"}}}`, "written", "forbidden"},
		"finalizers":    {`{"metadata":{"finalizers":["a.example/b"]}}`, "written", "written"},
		"owners":        {`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"a","uid":"b"}]}}`, "ignored", "ignored"},
		"spec":          {`{"spec":{"activeDeadlineSeconds":7}}`, "ignored", "ignored"},
		"a version":     {`{"metadata":{"resourceVersion":"1","annotations":{"a":"1"}}}`, "conflict", "conflict"},
		"another's UID": {`{"metadata":{"uid":"another","annotations":{"a":"1"}}}`, "invalid", "invalid"},
	} {
		for who, is := range map[string]struct {
			client.Client
			want string
		}{"admin": {admin, c.admin}, "kubelet": {kubelet, c.kubelet}} {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "pod-"}}
			pod.Spec.NodeName, pod.Spec.Containers = node.Name, []corev1.Container{{Name: "main", Image: "none"}}
			pod = create(t, admin, pod)
			if got := patched(t, is.Client, pod, c.patch); got != is.want {
				t.Errorf("%s by the %s: %s, want %s", what, who, got, is.want)
			}
		}
	}
}

// patched says what becomes of a patch of a Pod's status.
func patched(t *testing.T, c client.Client, pod *corev1.Pod, patch string) string {
	t.Helper()
	now := pod.DeepCopy()
	switch err := c.Status().Patch(t.Context(), now, client.RawPatch(types.MergePatchType, []byte(patch))); {
	case apierrors.IsForbidden(err):
		return "forbidden"
	case apierrors.IsConflict(err):
		return "conflict"
	case apierrors.IsInvalid(err):
		return "invalid"
	case err != nil:
		return err.Error()
	case now.ResourceVersion == pod.ResourceVersion:
		return "ignored"
	}
	return "written"
}
