package kube

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
)

const mark = "test.statecraft.dev/lamp"

func cachesOf(t *testing.T, declared ...Cached) Caches {
	t.Helper()
	c, err := NewCaches("lamps", cachedScheme(t), declared...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func cachedScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, kubetest.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

func claimNames() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}}
}

func TestObjectsOfOthersAreNotCachedWhole(t *testing.T) {
	for what, c := range map[string]struct {
		declared []Cached
		want     string
	}{
		"our own":             {[]Cached{{Of: &kubetest.Lamp{}}}, ""},
		"by label":            {[]Cached{{Of: &corev1.Pod{}, Labels: HasLabel(mark)}}, ""},
		"by field":            {[]Cached{{Of: &corev1.Pod{}, Fields: fields.OneTermEqualSelector("spec.nodeName", "a")}}, ""},
		"stripped":            {[]Cached{{Of: &corev1.Pod{}, Strip: func(client.Object) {}}}, ""},
		"metadata":            {[]Cached{{Of: claimNames()}}, ""},
		"all Pods":            {[]Cached{{Of: &corev1.Pod{}}}, "every Pod of the cluster would be cached"},
		"one kind twice":      {[]Cached{{Of: &kubetest.Lamp{}}, {Of: &kubetest.Lamp{}}}, "Lamp is declared twice"},
		"in two forms":        {[]Cached{{Of: claimNames()}, {Of: &corev1.PersistentVolumeClaim{}, Labels: HasLabel(mark)}}, "PersistentVolumeClaim is declared twice"},
		"a kind nobody knows": {[]Cached{{Of: &unknownKind{}}}, "find the kind of"},
	} {
		_, err := NewCaches("lamps", cachedScheme(t), c.declared...)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error %v, want %q", what, err, c.want)
		}
	}
}

type unknownKind struct{ corev1.Pod }

func TestSelectorsReachTheCache(t *testing.T) {
	lamp, pod, claims := &kubetest.Lamp{}, &corev1.Pod{}, claimNames()
	leases := ReservationLeases("system")
	o := cachesOf(t, Cached{Of: lamp}, Cached{Of: pod, Labels: HasLabel(mark)}, Cached{Of: claims}, leases).options([]string{"b", "a", "b"})
	if len(o.DefaultNamespaces) != 2 {
		t.Errorf("namespaces %v", o.DefaultNamespaces)
	}
	if _, limited := o.ByObject[lamp]; limited {
		t.Error("all lamps are ours, and cached")
	}
	if by := o.ByObject[pod]; by.Label == nil || by.Label.Matches(labels.Set{}) || !by.Label.Matches(labels.Set{mark: "x"}) {
		t.Errorf("pods are selected by %v", by.Label)
	}
	if by := o.ByObject[leases.Of]; by.Label == nil || by.Label.Matches(labels.Set{}) || len(by.Namespaces) != 1 {
		t.Errorf("Leases are selected by %v in %v", by.Label, by.Namespaces)
	}
	full := claimNames()
	full.Name, full.Labels, full.DeletionTimestamp = "data", map[string]string{"app": "shop"}, &metav1.Time{Time: time.Unix(1, 0)}
	kept, err := o.ByObject[claims].Transform(full)
	if m, is := kept.(*metav1.PartialObjectMetadata); err != nil || !is || m.Name != "data" || m.Labels != nil || m.DeletionTimestamp == nil {
		t.Errorf("kept %v, error %v", kept, err)
	}
}

func TestStripComesBeforeKeeping(t *testing.T) {
	pod := &corev1.Pod{}
	o := cachesOf(t, Cached{Of: pod, Strip: func(obj client.Object) { obj.SetLabels(nil) }}).options(nil)
	full := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"a": "b"}, ManagedFields: []metav1.ManagedFieldsEntry{{}}}}
	if _, err := o.ByObject[pod].Transform(full); err != nil || full.Labels != nil || full.ManagedFields != nil || full.Name != "a" {
		t.Errorf("kept %+v, error %v", full.ObjectMeta, err)
	}
	if kept, err := o.ByObject[pod].Transform(toolscache.DeletedFinalStateUnknown{Key: "a"}); err != nil || kept == nil {
		t.Errorf("kept %v of a deletion that nobody saw, error %v", kept, err)
	}
}

// TestUndeclaredKindsAreRefused: each way to a cache names the kind, and says where to declare it.
func TestUndeclaredKindsAreRefused(t *testing.T) {
	ctx := t.Context()
	c := declaredCache{&informertest.FakeInformers{Scheme: cachedScheme(t)}, cachesOf(t, Cached{Of: claimNames()}, Cached{Of: &kubetest.Lamp{}})}
	pods := corev1.SchemeGroupVersion.WithKind("Pod")
	for how, read := range map[string]func() error{
		"get":           func() error { return c.Get(ctx, client.ObjectKey{}, &corev1.Pod{}) },
		"list":          func() error { return c.List(ctx, &corev1.PodList{}) },
		"watch":         func() error { _, err := c.GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false)); return err },
		"watch by name": func() error { _, err := c.GetInformerForKind(ctx, pods); return err },
		"index": func() error {
			return c.IndexField(ctx, &corev1.Pod{}, "f", func(client.Object) []string { return nil })
		},
		"in another form":  func() error { return c.Get(ctx, client.ObjectKey{}, &corev1.PersistentVolumeClaim{}) },
		"list of metadata": func() error { return c.List(ctx, namesOf("LampList")) },
	} {
		err := read()
		if err == nil || !strings.Contains(err.Error(), "area lamps does not cache") || !strings.Contains(err.Error(), "kube.AreaSetup") {
			t.Errorf("%s: %v", how, err)
		}
	}
	for how, read := range map[string]func() error{
		"get":              func() error { return c.Get(ctx, client.ObjectKey{}, &kubetest.Lamp{}) },
		"list":             func() error { return c.List(ctx, &kubetest.LampList{}) },
		"watch":            func() error { _, err := c.GetInformer(ctx, &kubetest.Lamp{}); return err },
		"list of metadata": func() error { return c.List(ctx, claimNamesList()) },
	} {
		if err := read(); err != nil {
			t.Errorf("declared, %s: %v", how, err)
		}
	}
}

func namesOf(list string) *metav1.PartialObjectMetadataList {
	names := &metav1.PartialObjectMetadataList{}
	names.SetGroupVersionKind(kubetest.GroupVersion.WithKind(list))
	return names
}

func claimNamesList() *metav1.PartialObjectMetadataList {
	names := &metav1.PartialObjectMetadataList{}
	names.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaimList"))
	return names
}

func TestAWatchOfAnUndeclaredKindFailsAtSetup(t *testing.T) {
	a := &Area{caches: cachesOf(t, Cached{Of: &kubetest.Lamp{}})}
	_, err := Wake{Name: "pods", Of: &corev1.Pod{}, Find: byOwner}.sources(a)
	if err == nil || !strings.Contains(err.Error(), "wake pods: area lamps does not cache Pod") {
		t.Errorf("error %v", err)
	}
}

func TestACacheShowsWhatItSelects(t *testing.T) {
	c := cachesOf(t, Cached{Of: &corev1.Pod{}, Labels: HasLabel(mark)}, Cached{Of: claimNames()})
	for what, tc := range map[string]struct {
		obj  client.Object
		want bool
	}{
		"with the label":    {&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{mark: ""}}}, true},
		"without the label": {&corev1.Pod{}, false},
		"its metadata":      {&corev1.PersistentVolumeClaim{}, true},
		"not declared":      {&coordinationv1.Lease{}, false},
	} {
		if got := c.Shows(tc.obj); got != tc.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}
