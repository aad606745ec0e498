package bed_test

import (
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed"
)

func TestNodesUp(t *testing.T) {
	began := time.Now()
	b, err := bed.Start(t.Context(), bed.ControlPlane, bed.Nodes(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Log("up", time.Since(began))
	out, err := b.Kubectl(t.Context(), "get", "nodes", "-o", "wide")
	t.Log(out, err)
	began = time.Now()
	if err := b.Stop(); err != nil {
		t.Fatal(err)
	}
	t.Log("down", time.Since(began))
}
