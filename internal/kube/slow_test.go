package kube

import "testing"

// Who answers again takes none of the few places of those that do not.
func TestSlowLaneForgetsWhoIsQuickAgain(t *testing.T) {
	var l slowLane
	l.leave(alice, false, slowFrom)
	counted, may := l.enter(alice, 1)
	if !counted || !may {
		t.Fatalf("one that was slow: counted %t, may %t", counted, may)
	}
	if _, may := l.enter(alice, 1); may {
		t.Error("there is one place, and two have it")
	}
	l.leave(alice, counted, slowFrom-1)
	if counted, may := l.enter(alice, 1); counted || !may {
		t.Errorf("one that was quick: counted %t, may %t", counted, may)
	}
}
