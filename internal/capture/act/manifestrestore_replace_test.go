package act

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
)

// applied answers every apply with what was asked for, and keeps the last.
type applied struct {
	client.Client
	last *unstructured.Unstructured
}

func (a *applied) Apply(_ context.Context, obj runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	text, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	a.last = &unstructured.Unstructured{}
	return a.last.UnmarshalJSON(text)
}

// TestAMarkFitsIntoItsObject: however much a Replace changes, the API server takes what a dry run has promised.
func TestAMarkFitsIntoItsObject(t *testing.T) {
	there := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"old": "value"}}}
	there.SetName("settings")
	there.SetUID("u1")
	wanted, data := there.DeepCopy(), map[string]any{}
	for i := range 5000 {
		data[fmt.Sprintf("a-setting-with-a-name-that-is-not-short-and-number-%d", i)] = "value"
	}
	wanted.Object["data"] = data
	a := &applied{}
	j := &restoreJob{as: a, stage: manifestrestore.Apply, request: &capturev1.ManifestRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", UID: "r1"}}}
	r, err := j.replace(t.Context(), manifestrestore.Item{Outline: manifestrestore.OutlineOf(wanted, 0)}, wanted, there)
	if err != nil || r.Result != capturev1.ResultReplaced || len(r.Changed) == 0 {
		t.Fatalf("%+v: %v", r, err)
	}
	if err := apivalidation.ValidateAnnotationsSize(a.last.GetAnnotations()); err != nil {
		t.Error(err)
	}
	if seen := manifestrestore.See(a.last, "r1"); seen.Mark.As != capturev1.ResultReplaced || len(seen.Mark.Changed) != len(r.Changed) {
		t.Errorf("the mark says %+v", seen.Mark)
	}
}
