package manifestrestore

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// object is a captured object with owners, each "Kind/name".
func object(apiVersion, kind, name string, owners ...Key) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"name": name, "namespace": "old"},
	}}
	var refs []any
	for _, o := range owners {
		version := "v1"
		if o.Group != "" {
			version = o.Group + "/v1"
		}
		refs = append(refs, map[string]any{"apiVersion": version, "kind": o.Kind, "name": o.Name, "uid": "old-" + o.Name})
	}
	if refs != nil {
		_ = unstructured.SetNestedSlice(obj.Object, refs, "metadata", "ownerReferences")
	}
	return obj
}

var task = Task{By: "r1", Into: "new", From: "old"}

// planned is the plan of objects in frames of three, each item with its object.
func planned(objects []*unstructured.Unstructured, t Task) []Item {
	var outlines []Outline
	is := map[Key]*unstructured.Unstructured{}
	for i, obj := range objects {
		outlines = append(outlines, OutlineOf(obj, i/3))
		is[KeyOf(obj)] = obj
	}
	items := NewPlan(outlines, t)
	for i := range items {
		items[i] = items[i].Filled(is[items[i].Key], t)
	}
	return items
}

func names(items []Item) (names []string) {
	for _, i := range items {
		names = append(names, i.Kind+"/"+i.Name)
	}
	return names
}

func TestWhatOthersNeedComesFirst(t *testing.T) {
	web := Key{"apps", "Deployment", "web"}
	got := names(planned([]*unstructured.Unstructured{
		object("networking.k8s.io/v1", "Ingress", "web"),
		object("gateway.networking.k8s.io/v1", "HTTPRoute", "web"),
		object("apps/v1", "Deployment", "web"),
		object("v1", "ConfigMap", "made-by-web", web),
		object("v1", "Service", "web"),
		object("v1", "PersistentVolumeClaim", "data"),
		object("example.com/v1", "Gadget", "a"),
		object("v1", "Secret", "password"),
		object("v1", "ConfigMap", "settings"),
		object("rbac.authorization.k8s.io/v1", "RoleBinding", "web"),
		object("rbac.authorization.k8s.io/v1", "Role", "web"),
		object("v1", "ServiceAccount", "web"),
		object("autoscaling/v2", "HorizontalPodAutoscaler", "web"),
		object("v1", "ResourceQuota", "limit"),
		object("v1", "ConfigMap", "settings"), // twice
	}, task))
	want := []string{
		"ServiceAccount/web", "Role/web", "RoleBinding/web", "ConfigMap/settings", "Secret/password", "ResourceQuota/limit",
		"PersistentVolumeClaim/data", "Service/web", "Gadget/a", "Deployment/web", "ConfigMap/made-by-web",
		"HorizontalPodAutoscaler/web", "HTTPRoute/web", "Ingress/web",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// graph draws objects that own each other in any way, circles included.
func graph(t *rapid.T) []*unstructured.Unstructured {
	kinds := [][2]string{{"v1", "ConfigMap"}, {"apps/v1", "Deployment"}, {"v1", "Service"}, {"example.com/v1", "Gadget"}, {"networking.k8s.io/v1", "Ingress"}}
	n := rapid.IntRange(0, 12).Draw(t, "objects")
	var keys []Key
	var made []*unstructured.Unstructured
	for i := range n {
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		obj := object(kind[0], kind[1], fmt.Sprintf("o%d", i))
		keys = append(keys, KeyOf(obj))
		made = append(made, obj)
	}
	for i, obj := range made {
		var owners []Key
		for range rapid.IntRange(0, 2).Draw(t, "owners") {
			owners = append(owners, rapid.SampledFrom(append(slices.Clone(keys), Key{"", "ConfigMap", "not-captured"})).Draw(t, "owner"))
		}
		made[i] = object(obj.GetAPIVersion(), obj.GetKind(), obj.GetName(), owners...)
	}
	return made
}

// circular says that an object owns itself by way of others.
func circular(items map[Key]Item, from Key) bool {
	seen, open := map[Key]bool{}, []Key{from}
	for len(open) > 0 {
		for _, o := range items[open[0]].Owners {
			if o.Key == from {
				return true
			}
			if !seen[o.Key] {
				seen[o.Key] = true
				open = append(open, o.Key)
			}
		}
		open = open[1:]
	}
	return false
}

func TestOwnersComeBeforeOwned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects := graph(t)
		plan := planned(objects, task)
		place, items := map[Key]int{}, map[Key]Item{}
		for i, item := range plan {
			place[item.Key], items[item.Key] = i, item
		}
		if len(plan) != len(objects) || len(place) != len(objects) {
			t.Fatalf("%d objects, and %d in the plan", len(objects), len(place))
		}
		for _, item := range plan {
			for _, o := range item.Owners {
				if place[o.Key] > place[item.Key] && !circular(items, item.Key) && !circular(items, o.Key) {
					t.Fatalf("%v comes before its owner %v: %v", item.Key, o.Key, names(plan))
				}
			}
		}
		if diff := cmp.Diff(names(plan), names(planned(objects, task))); diff != "" {
			t.Fatalf("another order the second time: %s", diff)
		}
	})
}

// TestEveryReferenceNamesWhatIsThere: whatever the graph, who is restored refers only to
// objects that were restored before.
func TestEveryReferenceNamesWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		there, failed := map[Key]types.UID{}, map[Key]bool{}
		for _, item := range planned(graph(t), task) {
			refs, lacks := item.Rewire(func(k Key) types.UID { return there[k] }, failed)
			if lacks != nil && !failed[lacks.Key] {
				t.Fatalf("%v fails over %v, which did not", item.Key, lacks.Key)
			}
			if lacks != nil || rapid.IntRange(0, 4).Draw(t, "fails") == 0 {
				failed[item.Key] = true
				continue
			}
			for _, ref := range refs {
				if ref.UID != types.UID("new-"+ref.Name) {
					t.Fatalf("%v refers to %s", item.Key, ref.UID)
				}
			}
			there[item.Key] = types.UID("new-" + item.Name)
		}
	})
}

func TestObjectsAreMadeAnew(t *testing.T) {
	binding := object("rbac.authorization.k8s.io/v1", "RoleBinding", "web")
	binding.SetUID("u1")
	binding.SetResourceVersion("7")
	binding.SetFinalizers([]string{"example.com/wait"})
	binding.SetAnnotations(map[string]string{MarkAnnotation: Mark{By: "earlier"}.String(), "kept": "yes"})
	binding.Object["status"] = map[string]any{"some": "thing"}
	binding.Object["subjects"] = []any{
		map[string]any{"kind": "ServiceAccount", "name": "web", "namespace": "old"},
		map[string]any{"kind": "ServiceAccount", "name": "ci", "namespace": "tools"},
	}
	got := planned([]*unstructured.Unstructured{binding}, task)[0].Object.Object
	want := map[string]any{
		"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
		"metadata": map[string]any{"name": "web", "namespace": "new", "annotations": map[string]any{"kept": "yes"}},
		"subjects": []any{
			map[string]any{"kind": "ServiceAccount", "name": "web", "namespace": "new"},
			map[string]any{"kind": "ServiceAccount", "name": "ci", "namespace": "tools"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is written (-want +got):\n%s", diff)
	}
}

// A claim that gets its volume back comes before who would make an empty one of its name; so does one
// that comes back empty, of a controller that would be faster.
func TestClaimsComeBeforeTheirControllers(t *testing.T) {
	db := Key{"apps", "StatefulSet", "db"}
	of := func(name string, controller bool) *unstructured.Unstructured {
		claim := object("v1", "PersistentVolumeClaim", name, db)
		refs := claim.GetOwnerReferences()
		refs[0].Controller = &controller
		claim.SetOwnerReferences(refs)
		return claim
	}
	with := task
	with.Volumes = []capturev1.ManifestVolume{{Claim: "data", VolumeCaptureRequest: "nightly"}, {Claim: "log", VolumeCaptureRequest: "nightly"}, {Claim: "tmp", Empty: true}, {Claim: "own", Empty: true}}
	plan := planned([]*unstructured.Unstructured{object("apps/v1", "StatefulSet", "db"), of("data", true), of("log", false), of("tmp", true), of("own", false)}, with)
	want := []string{"PersistentVolumeClaim/data", "PersistentVolumeClaim/log", "PersistentVolumeClaim/tmp", "StatefulSet/db", "PersistentVolumeClaim/own"}
	if diff := cmp.Diff(want, names(plan)); diff != "" {
		t.Error(diff)
	}
	for i, item := range plan {
		if MayUseVolumes(item.Key) != (i == 3) {
			t.Errorf("%s may use volumes: %v", item.Name, MayUseVolumes(item.Key))
		}
	}
}

func TestAClaimWithACapturedVolumeIsAskedFor(t *testing.T) {
	claim := object("v1", "PersistentVolumeClaim", "data")
	claim.Object["spec"] = map[string]any{"accessModes": []any{"ReadWriteOnce"}, "volumeName": "old-volume", "resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}
	with := task
	with.Volumes = []capturev1.ManifestVolume{{Claim: "data", VolumeCaptureRequest: "nightly"}, {Claim: "scratch", Empty: true}}
	plan := planned([]*unstructured.Unstructured{claim, object("v1", "PersistentVolumeClaim", "scratch")}, with)
	if plan[0].Capture != "nightly" || plan[1].Capture != "" {
		t.Fatalf("captures %q and %q", plan[0].Capture, plan[1].Capture)
	}
	r := newRequest()
	r.Spec.Requester = &meta.Requester{Username: "ann"}
	nightly := &capturev1.VolumeCaptureRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "old", Name: "nightly", UID: "v1"}}
	v, err := VolumeRequest(r, plan[0], HeldBy(nightly, r.Namespace), createdAt.Add(3000e9))
	if err != nil {
		t.Fatal(err)
	}
	if v.Spec.Requester.Username != "ann" || v.Spec.DeadlineSeconds != 600 || v.Spec.Source.VolumeCaptureRequest.Namespace != "old" {
		t.Errorf("asks for %+v", v.Spec)
	}
	for takes, want := range map[string]string{"512Mi": "1Gi", "2Gi": "2Gi"} {
		size := resource.MustParse(takes)
		nightly.Status.RestoreSize = &size
		v, err := VolumeRequest(r, plan[0], HeldBy(nightly, r.Namespace), createdAt.Time)
		if asked := v.Spec.VolumeClaimTemplate.Spec.Resources.Requests[corev1.ResourceStorage]; err != nil || asked.String() != want {
			t.Errorf("for %s it asks for %s: %v", takes, &asked, err)
		}
	}
	if mark := markOf(v.Spec.VolumeClaimTemplate.Annotations, r.UID); mark.As != capturev1.ResultCreated {
		t.Errorf("the claim will not be known: %+v", mark)
	}
	nightly.Spec.Mode = capturev1.Detach
	if held := HeldBy(nightly, "old"); held.Takes != nil || held.In.VolumeCaptureRequest.Namespace != "" || held.In.VolumeCaptureRequest.UID != "v1" {
		t.Errorf("a volume that is moved is held by %+v", held)
	}
	if a, b := VolumeRequestName("r1", "data"), VolumeRequestName("r1", "data2"); a == b || len(a) > 63 {
		t.Errorf("names %s and %s", a, b)
	}
}
