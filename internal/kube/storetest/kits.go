package storetest

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Lamps are kept in their status.
func Lamps(c client.Client, namespace string) Kit[*kubetest.Lamp] {
	return Kit[*kubetest.Lamp]{
		Client: c,
		New: func(cached client.Client, live client.Reader) kube.Store[*kubetest.Lamp] {
			return kube.NewStore[*kubetest.Lamp](cached, live)
		},
		Make: func(t *testing.T, name string) read.Key {
			t.Helper()
			return create(t, c, &kubetest.Lamp{ObjectMeta: object(namespace, name), Spec: kubetest.LampSpec{Wish: "light"}})
		},
		Keeper: func(key read.Key) client.Object { return &kubetest.Lamp{ObjectMeta: object(key.Namespace, key.Name)} },
		Own:    func(keeper client.Object) { keeper.(*kubetest.Lamp).Status = kubetest.LampStatus{} },
		Wipe:   Patch{Data: `{"status":null}`, Status: true},
	}
}

// Pods are kept in an annotation.
func Pods(c client.Client, namespace string) Kit[*kubetest.Pod] {
	annotated := func(value string) Patch {
		return Patch{Data: `{"metadata":{"annotations":{"` + kubetest.PodProgress + `":` + value + `}}}`}
	}
	return Kit[*kubetest.Pod]{
		Client: c,
		New: func(cached client.Client, live client.Reader) kube.Store[*kubetest.Pod] {
			return kube.NewAnnotationStore(kube.Env{Client: cached, Live: live}, kubetest.PodProgress, kubetest.NewPod)
		},
		Make: func(t *testing.T, name string) read.Key {
			t.Helper()
			pod := &corev1.Pod{ObjectMeta: object(namespace, name)}
			pod.Annotations = map[string]string{"theirs": "1"}
			pod.Spec.Containers, pod.Spec.SchedulerName = []corev1.Container{{Name: "main", Image: "none"}}, "nobody" // else writes its status
			return create(t, c, pod)
		},
		Keeper: func(key read.Key) client.Object { return &corev1.Pod{ObjectMeta: object(key.Namespace, key.Name)} },
		Own:    func(keeper client.Object) { delete(keeper.GetAnnotations(), kubetest.PodProgress) },
		Wipe:   annotated(`null`),
		Garble: []Patch{
			annotated(`"{"`), annotated(`"[1]"`), annotated(`"{\"phase\":7}"`), annotated(`""`),
			annotated(`"{\"uid\":\"of another\",\"phase\":\"First\"}"`), annotated(`"{\"phase\":\"First\"}"`),
		},
	}
}

func object(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func create(t *testing.T, c client.Client, obj client.Object) read.Key {
	t.Helper()
	obj.SetUID(uuid.NewUUID()) // which a real API server does not take from anybody
	if err := c.Create(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	return client.ObjectKeyFromObject(obj)
}
