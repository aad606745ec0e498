package edge

import (
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The last sweep may be older than our own edit: a pod that was just sent is not taken for one that a person has taken out.
func TestASweepOfBeforeTakesNothingOut(t *testing.T) {
	b := newBench(t)
	b.turns(4)
	b.must(b.Create(t.Context(), bound()))
	for range 6 { // no sweep meanwhile, and nothing happens on the device
		_, err := b.pods.Pass(t.Context(), client.ObjectKey{Namespace: "shop", Name: "web"})
		b.must(err)
	}
	if text := b.web().Annotations[Progress]; b.phase() != "Preparing" || strings.Contains(text, "TakenOut") {
		t.Errorf("it is %s: %s", b.phase(), text)
	}
}
