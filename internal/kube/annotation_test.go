package kube

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
)

// long is a progress whose every text has so many characters, each of which takes six bytes.
func long(n int) *meta.Progress {
	words := strings.Repeat("<", n)
	p := &meta.Progress{Place: meta.Place{Phase: "On", Failures: 3}, WaitingFor: words}
	p.Conditions = []metav1.Condition{{Type: fsm.Ready, Status: metav1.ConditionFalse, Reason: "Dark", Message: words}}
	for range 16 {
		p.History = append(p.History, meta.Transition{From: "Off", To: "On", Event: "Press", Reason: "Pressed", Message: words})
	}
	p.History[15].To = "Last"
	return p
}

func TestAnAnnotationIsBounded(t *testing.T) {
	for what, c := range map[string]struct {
		long               int
		moves, words, says int // moves kept, messages of them, conditions
	}{
		"a few words":    {20, 4, 4, 1},
		"long words":     {600, 4, 0, 1},
		"the longest":    {1024, 4, 0, 1},
		"longer than so": {4096, 0, 0, 0},
	} {
		p := long(c.long)
		text, err := printProgress(p, "u1")
		if err != nil || len(text) > carriedBytes {
			t.Fatalf("%s: %d bytes, %v", what, len(text), err)
		}
		got := parseProgress(text, "u1")
		words := 0
		for _, move := range got.History {
			if move.Message != "" {
				words++
			}
		}
		if len(got.History) != c.moves || words != c.words || len(got.Conditions) != c.says {
			t.Errorf("%s: %d moves, %d with words, %d conditions", what, len(got.History), words, len(got.Conditions))
		}
		if got.Phase != "On" || got.Failures != 3 || c.moves > 0 && got.History[3].To != "Last" {
			t.Errorf("%s: it is at %+v, and its last move is lost", what, got.Place)
		}
		if len(p.History) != 16 || p.History[0].Message == "" {
			t.Errorf("%s: what was to be saved has been shortened itself", what)
		}
	}
}

// A manifest that is applied again has the annotations of the object that it was read from.
func TestAnAnnotationIsOfOneObject(t *testing.T) {
	text, err := printProgress(&meta.Progress{Place: meta.Place{Phase: "On"}}, "u1")
	if err != nil {
		t.Fatal(err)
	}
	if got := parseProgress(text, "u1"); got.Phase != "On" {
		t.Errorf("its own says %+v", got)
	}
	if got := parseProgress(text, "u2"); got.Phase != "" {
		t.Errorf("that of a copy says %+v", got)
	}
}

// Metrics of a kind without room for a progress of ours are read from the annotation as well.
func TestMetricsReadTheAnnotation(t *testing.T) {
	text, err := printProgress(&meta.Progress{Place: meta.Place{Phase: "On"}}, "u1")
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u1", Annotations: map[string]string{kubetest.PodProgress: text}}}
	var keeper progressKeeper = NewAnnotationStore(Env{}, kubetest.PodProgress, kubetest.NewPod)
	if got := keeper.progressOf(pod); got.Phase != "On" {
		t.Errorf("it says %+v", got)
	}
}

// Half of a progress could be a phase without its back-off.
func TestAnAnnotationIsReadWholeOrNotAtAll(t *testing.T) {
	if got := parseProgress(`{"uid":"u1","phase":"On","failures":"many"}`, "u1"); got.Phase != "" {
		t.Errorf("it says %+v", got)
	}
}

// A newer version may have written more: what this one knows still counts.
func TestAnAnnotationOfANewerVersion(t *testing.T) {
	newer, err := json.Marshal(map[string]any{"uid": "u1", "phase": "On", "mood": "bright"})
	if err != nil {
		t.Fatal(err)
	}
	if got := parseProgress(string(newer), "u1"); got.Phase != "On" {
		t.Errorf("it says %+v", got)
	}
}
