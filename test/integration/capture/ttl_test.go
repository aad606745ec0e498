package capture

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

// endedAt makes a request one that ended at a time, or that does not say when.
func endedAt(t *testing.T, c client.Client, obj client.Object, ready metav1.ConditionStatus, at *time.Time) {
	t.Helper()
	create(t, c, obj)
	phase, end := "Failed", ""
	if ready == metav1.ConditionTrue {
		phase = "Succeeded"
	}
	if at != nil {
		end = fmt.Sprintf(`"completionTimestamp":%q,`, at.UTC().Format(time.RFC3339))
	}
	stamp := metav1.Now().UTC().Format(time.RFC3339)
	patch := fmt.Sprintf(`{"status":{%s"observedGeneration":1,"phase":%q,"since":%q,"conditions":[
		{"type":"Ready","status":%q,"reason":"Test","message":"","lastTransitionTime":%q}]}}`, end, phase, stamp, ready, stamp)
	if err := c.Status().Patch(t.Context(), obj, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
}

// TestOldRequestsGo shows requests that ended to a manager that was not there when they did.
func TestOldRequestsGo(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	m := product.NewManager(t, b, area, "--capture-ttl-failed=1m")
	long, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	name := func(obj client.Object, name string) client.Object {
		obj.SetName(name)
		return obj
	}
	goes := []client.Object{name(snapshot(namespace, "data"), "failed"), manifests(namespace, false)}
	for _, obj := range goes {
		endedAt(t, c, obj, metav1.ConditionFalse, &long)
	}
	annotated := name(snapshot(namespace, "data"), "annotated")
	annotated.SetAnnotations(map[string]string{"capture.statecraft.dev/ttl": "1s"})
	stays := []client.Object{name(snapshot(namespace, "data"), "succeeded"), annotated}
	for _, obj := range stays {
		endedAt(t, c, obj, metav1.ConditionTrue, &long)
	}
	for _, obj := range []client.Object{name(detach(namespace, "data"), "detached"), restore(namespace, source{request: "a"}), manifestRestore(namespace, "m", "", "")} {
		endedAt(t, c, obj, metav1.ConditionFalse, &long)
		stays = append(stays, obj)
	}
	early, silent := name(snapshot(namespace, "data"), "early"), name(snapshot(namespace, "data"), "silent")
	endedAt(t, c, early, metav1.ConditionFalse, &future)
	endedAt(t, c, silent, metav1.ConditionFalse, nil)
	stays = append(stays, early, silent)

	m.Start()
	for _, obj := range goes {
		harness.Eventually(t, soon, poll, func() error { return harness.Gone(t.Context(), c, obj) })
	}
	harness.Consistently(t, twoScans, poll, func() error {
		for _, obj := range stays {
			there := obj.DeepCopyObject().(client.Object)
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), there); err != nil {
				return err
			}
			if diff := cmp.Diff(obj, there); diff != "" {
				return fmt.Errorf("%s was written: %s", obj.GetName(), diff)
			}
		}
		return nil
	})
}

// twoScans is how long two scans take with a term of one minute.
const twoScans = 13 * time.Second

// TestAFailedCaptureGoesWithAllItMade lets a capture fail by itself: its claim does not exist.
func TestAFailedCaptureGoesWithAllItMade(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	product.NewManager(t, b, area, "--capture-ttl-failed=5s").Start()
	short, detached := snapshot(namespace, "missing"), detach(namespace, "missing")
	detached.Name = "detached"
	create(t, c, short)
	create(t, c, detached)
	keeper := &capturev1.ObjectKeeper{ObjectMeta: metav1.ObjectMeta{Name: request.KeeperName(short.UID)}}
	failed := func(r *capturev1.VolumeCaptureRequest) error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(r), r); err != nil {
			return err
		}
		if ready := apimeta.FindStatusCondition(r.Status.Conditions, fsm.Ready); ready == nil || ready.Reason != string(capturev1.ReasonNotFound) || r.Status.CompletionTimestamp == nil {
			return fmt.Errorf("%s is %s, Ready %+v", r.Name, r.Status.Phase, ready)
		}
		return nil
	}
	harness.Eventually(t, soon, poll, func() error { return failed(detached) })
	harness.Eventually(t, soon, poll, func() error { return harness.Gone(t.Context(), c, short) })
	harness.Eventually(t, soon, poll, func() error { return harness.Gone(t.Context(), c, keeper) })
	harness.Consistently(t, 5*time.Second, poll, func() error { return failed(detached) })
}
