package wiretest

import (
	"testing"
	"time"
)

func TestRaisedEpochsEndADispute(t *testing.T) {
	c := Fake("9.1.2")(t)
	if err := Form(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	replica, err := c.Ask(t.Context(), c.Addrs[1])
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Kill(c.Addrs[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Start(c.Addrs[0], Restart{MistakesForPrimary: replica.ID}); err != nil {
		t.Fatal(err)
	}
	agree := func() bool { _, agree := c.Nodes(t.Context()).Agree(); return agree }
	if err := c.Elapse(t.Context(), time.Minute); err != nil || agree() {
		t.Fatalf("servers came to agree by themselves, so there is nothing to end: %v", err)
	}
	if err := RaiseEpochs(t.Context(), c, c.Nodes(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := c.Until(t.Context(), agree); err != nil || !agree() {
		t.Errorf("they still do not agree: %v", err)
	}
}
