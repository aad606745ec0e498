//go:build full

package capture

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/bulk"
)

const eachKind = 500 // objects; there are 20 kinds

// TestManifestsOfTenThousandObjects captures them while some are written: all as they were at one moment, none
// missing, for little more than reading them costs. What was stored cannot be changed unnoticed.
func TestManifestsOfTenThousandObjects(t *testing.T) {
	s := newStage(t)
	if err := apiextensionsv1.AddToScheme(s.Client.Scheme()); err != nil {
		t.Fatal(err)
	}
	harness.Apply(t, s.Bed, in(s.Namespace, tenant))
	bulk.Install(t, s.Client)
	bulk.Populate(t, s.Bed.Config(), s.Namespace, eachKind)
	plain := bulk.NewReader(t, s.Bed.Config())
	counted, stop := bulk.Count(t, s.Client, s.Namespace)
	defer stop()

	before := s.Manager.PeakMemory()
	var took, reading []float64
	var taken *capturev1.ManifestCaptureRequest
	for i := range 5 {
		list, bytes := plain.Read(t, s.Namespace)
		taken = &capturev1.ManifestCaptureRequest{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "all-"},
			Spec:       capturev1.ManifestCaptureRequestSpec{Selector: bulk.Selector(), DeadlineSeconds: 300},
		}
		began := time.Now()
		s.Create(taken)
		s.succeeds(taken)
		took, reading = append(took, time.Since(began).Seconds()), append(reading, list.Seconds())
		point, objects, err := bulk.Captured(t.Context(), s.Client, taken)
		if err != nil {
			t.Fatal(err)
		}
		if err := bulk.Torn(objects); err != nil {
			t.Errorf("cut %d is torn: %v", i, err)
		}
		want := eachKind*bulk.HowManyKinds + counted
		if len(objects) != want || int(taken.Status.Captured) != want || taken.Status.Expected != taken.Status.Captured {
			t.Errorf("%d objects, captured %d of %d, want %d", len(objects), taken.Status.Captured, taken.Status.Expected, want)
		}
		t.Logf("%d objects, %d bytes, in %d chunks at %s", len(objects), bytes, len(point.Spec.Chunks), taken.Status.ResourceVersion)
	}
	slices.Sort(took)
	slices.Sort(reading)
	harness.Row(t, "%d objects of %d kinds: Ready after %.2f s, plain LIST %.2f s (medians of 5); peak of the manager %d MiB, before %d MiB",
		taken.Status.Captured, bulk.HowManyKinds, took[2], reading[2], s.Manager.PeakMemory()>>20, before>>20)
	s.tampered(taken)
}

// tampered replaces one chunk of a capture by another of the same name: a restore notices, and writes nothing.
func (s *stage) tampered(taken *capturev1.ManifestCaptureRequest) {
	s.T.Helper()
	point, _, err := bulk.Captured(s.T.Context(), s.Client, taken)
	if err != nil {
		s.T.Fatal(err)
	}
	chunk := &capturev1.ManifestCheckpointContentChunk{}
	if err := s.Client.Get(s.T.Context(), client.ObjectKey{Name: point.Spec.Chunks[len(point.Spec.Chunks)-1].Name}, chunk); err != nil {
		s.T.Fatal(err)
	}
	s.Delete(chunk.DeepCopy())
	s.AwaitGone(chunk.DeepCopy())
	chunk.ResourceVersion, chunk.UID = "", ""
	chunk.Spec.Data[len(chunk.Spec.Data)/2] ^= 1
	s.createCluster(chunk)
	back := manifestsBack("tampered", "", taken.Name)
	s.Create(back)
	if c := s.ended(back); c.Reason != string(capturev1.ReasonTampered) {
		s.T.Errorf("a checkpoint with a changed chunk: %s, %s", c.Reason, c.Message)
	}
}

// TestManifestsAndThePolicies: names are taken in all three ways, a dry run says what the real one does, and an old
// request has no effect.
func TestManifestsAndThePolicies(t *testing.T) {
	s := newStage(t)
	harness.Apply(t, s.Bed, in(s.Namespace, tenant))
	for name, value := range map[string]string{"changed": "then", "same": "then", "lost": "then"} {
		s.Create(settings(name, value))
	}
	taken := manifests("taken", false)
	s.Create(taken)
	s.succeeds(taken)
	s.Delete(s.here(settings("lost", "")))
	changed := s.here(settings("changed", "now"))
	changed.Data["added"] = "since"
	if err := s.Client.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	restore := func(name string, change func(*capturev1.ManifestRestoreRequestSpec)) *capturev1.ManifestRestoreRequest {
		r := manifestsBack(name, "", taken.Name)
		soon := metav1.NewTime(time.Now().Add(time.Hour))
		r.Spec.NotAfter = &soon
		change(&r.Spec)
		s.Create(r)
		s.ended(r)
		return r
	}
	state := func() string { return s.Kubectl("get", "cm,sa,role", "-o", "yaml") }
	was := state()

	fail := restore("fail", func(r *capturev1.ManifestRestoreRequestSpec) { r.ConflictPolicy = capturev1.ConflictFail })
	dry := restore("dry", func(r *capturev1.ManifestRestoreRequestSpec) {
		r.ConflictPolicy, r.DryRun = capturev1.ConflictReplace, true
	})
	old := restore("old", func(r *capturev1.ManifestRestoreRequestSpec) {
		r.ConflictPolicy, r.NotAfter = capturev1.ConflictReplace, &metav1.Time{Time: time.Now().Add(-time.Hour)}
	})
	if diff := cmp.Diff(was, state()); diff != "" {
		t.Errorf("Fail, a dry run and an old request have changed something: %s", diff)
	}
	s.verdicts(map[*capturev1.ManifestRestoreRequest]string{
		fail: string(capturev1.ReasonConflict), dry: string(capturev1.ReasonCompleted), old: string(capturev1.ReasonExpired),
	})

	restore("skip", func(r *capturev1.ManifestRestoreRequestSpec) { r.ConflictPolicy = capturev1.ConflictSkip })
	s.holds("changed", map[string]string{"value": "now", "added": "since"})
	s.holds("lost", map[string]string{"value": "then"})
	s.Delete(s.here(settings("lost", "")))
	done := restore("replace", func(r *capturev1.ManifestRestoreRequestSpec) { r.ConflictPolicy = capturev1.ConflictReplace })
	s.holds("changed", map[string]string{"value": "then", "added": "since"})
	s.holds("lost", map[string]string{"value": "then"})
	if diff := cmp.Diff(said(dry), said(done)); diff != "" {
		t.Errorf("the dry run has said otherwise: %s", diff)
	}
}

// said is what became of each object.
func said(r *capturev1.ManifestRestoreRequest) (lines []string) {
	for _, one := range r.Status.Results {
		lines = append(lines, strings.Join([]string{one.Resource, one.Name, string(one.Result), string(one.Reason), strings.Join(one.Changed, ",")}, " "))
	}
	return lines
}

func (s *stage) verdicts(of map[*capturev1.ManifestRestoreRequest]string) {
	s.T.Helper()
	for r, want := range of {
		if c := s.ended(r); c.Reason != want {
			s.T.Errorf("%s: %s, %s; want %s", r.Name, c.Reason, c.Message, want)
		}
	}
}

func settings(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"value": value}}
}

func (s *stage) here(cm *corev1.ConfigMap) *corev1.ConfigMap {
	cm.Namespace = s.Namespace
	return cm
}

// holds says that a ConfigMap holds this.
func (s *stage) holds(name string, want map[string]string) {
	s.T.Helper()
	got := s.here(settings(name, ""))
	if err := s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(got), got); err != nil {
		s.T.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Data); diff != "" {
		s.T.Errorf("%s: %s", name, diff)
	}
}
