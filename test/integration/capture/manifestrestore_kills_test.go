package capture

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	manyObjects   = 600
	restoreKills  = 3
	manyWithin    = timeout.Wait
	betweenKills  = 100 // objects that are written before the next kill
	restoreAtRest = 15 * time.Second
)

// manyConfigMaps are captured ConfigMaps.
func manyConfigMaps(n int) (objects []*unstructured.Unstructured) {
	for i := range n {
		objects = append(objects, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": fmt.Sprintf("many-%d", i)},
			"data": map[string]any{"text": strings.Repeat("lorem ipsum ", 40)},
		}})
	}
	return objects
}

// TestARestoreUnderKills kills the manager while it writes. Every object is made once, and
// the results say so as if nothing had happened.
func TestARestoreUnderKills(t *testing.T) {
	s := newScene(t)
	m := product.NewManager(t, s.bed, area)
	m.Start()
	from := checkpointOf(t, s.c, manyConfigMaps(manyObjects))
	since := time.Now()
	r := s.ask("many", from, nil)
	for i := range restoreKills {
		harness.Eventually(t, manyWithin, poll, func() error {
			if n := len(s.restored()); n < (i+1)*betweenKills {
				return fmt.Errorf("%d objects are there", n)
			}
			return nil
		})
		m.Kill()
		m.Start()
	}
	harness.Eventually(t, manyWithin, poll, func() error {
		if err := s.c.Get(t.Context(), client.ObjectKeyFromObject(r), r); err != nil {
			return err
		}
		if r.Status.Phase != manifestrestore.Succeeded {
			return fmt.Errorf("it is in phase %s: %s", r.Status.Phase, r.Status.WaitingFor)
		}
		return nil
	})
	uids := s.restored()
	for _, one := range r.Status.Results {
		if one.Result != capturev1.ResultCreated || uids[one.Name] != one.UID {
			t.Errorf("%s is %s with UID %s, and there is %s", one.Name, one.Result, one.UID, uids[one.Name])
		}
	}
	if r.Status.Counts["Created"] != manyObjects || len(uids) != manyObjects {
		t.Errorf("%d of %d are there, results %v", len(uids), manyObjects, r.Status.Counts)
	}
	ended := time.Now()
	harness.Consistently(t, restoreAtRest, time.Second, func() error { return nil })
	writes, err := s.bed.Writes(ended, harness.User(area))
	if err != nil {
		t.Fatal(err)
	}
	if counts := bed.CountWrites(bed.WithoutElections(writes)); len(counts) > 0 {
		t.Errorf("writes at rest: %v", counts)
	}
	t.Logf("%d objects in %s, killed %d times", manyObjects, ended.Sub(since).Round(100*time.Millisecond), restoreKills)
}

// restored are the UIDs of what the test restores, by name.
func (s *scene) restored() map[string]types.UID {
	s.t.Helper()
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	if err := s.c.List(s.t.Context(), list, client.InNamespace(s.namespace)); err != nil {
		s.t.Fatal(err)
	}
	uids := map[string]types.UID{}
	for i := range list.Items {
		if strings.HasPrefix(list.Items[i].Name, "many-") {
			uids[list.Items[i].Name] = list.Items[i].UID
		}
	}
	return uids
}

// TestWhatARestoreCosts counts the writes of one restore, and says how long it took.
func TestWhatARestoreCosts(t *testing.T) {
	s := newScene(t)
	product.NewManager(t, s.bed, area).Start()
	from := checkpointOf(t, s.c, manyConfigMaps(manyObjects))
	warm := checkpointOf(t, s.c, objectsOf(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: warm}"))
	s.ends(s.ask("warm", warm, nil), capturev1.ReasonCompleted) // the manager leads by now
	since := time.Now()
	r := s.ask("many", from, nil)
	harness.Eventually(t, manyWithin, poll, func() error {
		if err := s.c.Get(t.Context(), client.ObjectKeyFromObject(r), r); err != nil {
			return err
		}
		if r.Status.Phase != manifestrestore.Succeeded {
			return fmt.Errorf("it is in phase %s", r.Status.Phase)
		}
		return nil
	})
	took := time.Since(since)
	writes, err := s.bed.Writes(since, harness.User(area))
	if err != nil {
		t.Fatal(err)
	}
	counts := bed.CountWrites(bed.WithoutElections(writes))
	if got := counts["patch manifestrestorerequests.capture.statecraft.dev/status"]; got != 5 {
		t.Errorf("%d writes of the status, want 5: %v", got, counts)
	}
	if got := counts["create objectkeepers.capture.statecraft.dev"]; got != 1 {
		t.Errorf("%d keepers were made", got)
	}
	t.Logf("%d objects in %s, %.0f a second; writes %v", manyObjects, took.Round(10*time.Millisecond), manyObjects/took.Seconds(), counts)
}
