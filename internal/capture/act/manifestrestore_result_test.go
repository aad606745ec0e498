package act

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// run is a job over ConfigMaps with these names; "taken" is there already, and so is its frame for all but "lost".
func run(t *testing.T, stage manifestrestore.Stage, names ...string) (*restoreJob, *diary) {
	mapper := apimeta.NewDefaultRESTMapper(nil)
	kind := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	mapper.Add(kind, apimeta.RESTScopeNamespace)
	known := frame{objects: map[manifestrestore.Key]*unstructured.Unstructured{}}
	var items []manifestrestore.Item
	for _, name := range names {
		obj := &unstructured.Unstructured{}
		obj.SetGroupVersionKind(kind)
		obj.SetName(name)
		at := 0
		if name == "lost" {
			at = 1
		}
		known.objects[manifestrestore.KeyOf(obj)] = obj
		items = append(items, manifestrestore.Item{Outline: manifestrestore.OutlineOf(obj, at)})
	}
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "taken", UID: "theirs"}}
	d := &diary{Client: serving(t, theirs)}
	return &restoreJob{
		ManifestRestore: &ManifestRestore{Live: read.Live{Reader: d}, Mapper: mapper}, as: d,
		request: &capturev1.ManifestRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "back", UID: "r1"}},
		stage:   stage, spec: &capturev1.ManifestCheckpointSpec{}, items: items, frame: known,
		uids: map[manifestrestore.Key]types.UID{}, would: map[manifestrestore.Key]types.UID{}, failed: map[manifestrestore.Key]bool{},
	}, d
}

func (j *restoreJob) toItsEnd(t *testing.T) *manifestrestore.Report {
	t.Helper()
	for {
		switch report, done, err := j.step(t.Context()); {
		case err != nil:
			t.Fatal(err)
		case done:
			return report
		}
	}
}

// TestAResultIsWhatWasDone: a plan writes nothing, so it says of no object that it was created; a dry run says what would
// be, and a restore that breaks off says what it had written by then.
func TestAResultIsWhatWasDone(t *testing.T) {
	type counts = map[capturev1.RestoreResult]int32
	for what, c := range map[string]struct {
		stage  manifestrestore.Stage
		policy capturev1.ConflictPolicy
		dry    bool
		names  []string
		want   counts
		wrote  int
	}{
		"a plan with a name that is taken": {
			stage: manifestrestore.Plan, policy: capturev1.ConflictFail, names: []string{"a", "taken"},
			want: counts{capturev1.ResultPending: 1, capturev1.ResultFailed: 1},
		},
		"a plan that would replace": {
			stage: manifestrestore.Plan, policy: capturev1.ConflictReplace, names: []string{"a", "taken"}, want: counts{capturev1.ResultPending: 2},
		},
		"a plan that would skip": {
			stage: manifestrestore.Plan, policy: capturev1.ConflictSkip, names: []string{"a", "taken"},
			want: counts{capturev1.ResultPending: 1, capturev1.ResultSkipped: 1},
		},
		"a dry run": {
			stage: manifestrestore.Plan, policy: capturev1.ConflictFail, dry: true, names: []string{"a", "taken"}, wrote: 1, // a dry create
			want: counts{capturev1.ResultCreated: 1, capturev1.ResultFailed: 1},
		},
		"a restore that breaks off": {
			stage: manifestrestore.Apply, policy: capturev1.ConflictSkip, names: []string{"a", "taken", "lost", "b"}, wrote: 1,
			want: counts{capturev1.ResultCreated: 1, capturev1.ResultSkipped: 1, capturev1.ResultPending: 2},
		},
	} {
		j, d := run(t, c.stage, c.names...)
		j.request.Spec.ConflictPolicy, j.request.Spec.DryRun = c.policy, c.dry
		report := j.toItsEnd(t)
		if diff := cmp.Diff(c.want, report.Counts); diff != "" || len(d.wrote) != c.wrote {
			t.Errorf("%s: %d writes, and it says: %s", what, len(d.wrote), diff)
		}
	}
}
