package act

import (
	"context"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// diary notes what is created, and creates nothing.
type diary struct {
	client.Client
	wrote []string
}

func (d *diary) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	d.wrote = append(d.wrote, obj.GetObjectKind().GroupVersionKind().Kind)
	return nil
}

// secondRun is a job that finds the claim of a run before it, and a StatefulSet to write.
func secondRun(t *testing.T, v *capturev1.VolumeRestoreRequest, claim *corev1.PersistentVolumeClaim) (*restoreJob, *diary) {
	mapper := apimeta.NewDefaultRESTMapper(nil)
	frame := frame{objects: map[manifestrestore.Key]*unstructured.Unstructured{}}
	var items []manifestrestore.Item
	for _, gvk := range []schema.GroupVersionKind{corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), appsv1.SchemeGroupVersion.WithKind("StatefulSet")} {
		mapper.Add(gvk, apimeta.RESTScopeNamespace)
		obj := &unstructured.Unstructured{}
		obj.SetGroupVersionKind(gvk)
		obj.SetName("data")
		frame.objects[manifestrestore.KeyOf(obj)] = obj
		items = append(items, manifestrestore.Item{Outline: manifestrestore.OutlineOf(obj, 0)})
	}
	items[0].Capture = "nightly"
	d := &diary{Client: serving(t, v, claim)}
	return &restoreJob{
		ManifestRestore: &ManifestRestore{Live: read.Live{Reader: d}, Mapper: mapper}, as: d,
		request: &capturev1.ManifestRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "back", UID: "r1"}},
		stage:   manifestrestore.Apply, keeper: "keeper", spec: &capturev1.ManifestCheckpointSpec{}, items: items, frame: frame,
		uids: map[manifestrestore.Key]types.UID{}, failed: map[manifestrestore.Key]bool{},
	}, d
}

// TestAMarkIsNotAVolume: the claim bears our mark from the moment it is made. Whether its volume came is for the request
// to say that was made for it; without the volume nothing is written that would use it.
func TestAMarkIsNotAVolume(t *testing.T) {
	for what, c := range map[string]struct {
		ready  metav1.ConditionStatus // "" is that it goes on
		going  bool                   // the claim is being deleted
		want   capturev1.RestoreResult
		waits  bool
		writes int
	}{
		"it came":                       {ready: metav1.ConditionTrue, want: capturev1.ResultCreated, writes: 1},
		"it may come":                   {want: capturev1.ResultPending, writes: 1},
		"it may come, the claim goes":   {going: true, want: capturev1.ResultPending, waits: true},
		"it did not, the claim stays":   {ready: metav1.ConditionFalse, want: capturev1.ResultFailed},
		"it did not, and the claim too": {ready: metav1.ConditionFalse, going: true, want: capturev1.ResultFailed},
	} {
		v := &capturev1.VolumeRestoreRequest{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: manifestrestore.VolumeRequestName("r1", "data"), UID: "v1",
			OwnerReferences: []metav1.OwnerReference{request.KeptBy("r1", "keeper")},
		}}
		v.Status.PVCRef = &capturev1.ArtifactRef{UID: "c1"}
		if c.ready != "" {
			v.Status.Conditions = []metav1.Condition{{Type: fsm.Ready, Status: c.ready, Reason: "TooSmall"}}
		}
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "data", UID: "c1",
			Annotations: map[string]string{
				capturev1.RestoreAnnotation:    "v1",
				manifestrestore.MarkAnnotation: manifestrestore.Mark{By: "r1", As: capturev1.ResultCreated}.String(),
			},
		}}
		if c.going {
			claim.Finalizers, claim.DeletionTimestamp = []string{"kubernetes.io/pvc-protection"}, &metav1.Time{Time: v.CreationTimestamp.AddDate(1, 0, 0)}
		}
		j, d := secondRun(t, v, claim)
		var report *manifestrestore.Report
		for done := false; !done; {
			var err error
			if report, done, err = j.step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if owner := j.uids[j.items[0].Key] != ""; owner != (c.writes > 0) {
			t.Errorf("%s: what the claim owns finds it: %t", what, owner)
		}
		if got := j.results[0].Result; got != c.want || report == nil || (report.Awaits != "") != c.waits || len(d.wrote) != c.writes {
			t.Errorf("%s: the claim is %s, %+v, and %v is written", what, got, report, d.wrote)
		}
	}
}
