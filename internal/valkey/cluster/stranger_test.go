package cluster

import (
	"strings"
	"testing"
)

// Where a stranger answers, a server is missing, also if Kubernetes still calls its pod ready.
func TestWhereAStrangerAnswersAServerIsMissing(t *testing.T) {
	w := clone(made()[len(made())-1].world)
	if why, lacks := w.lacks(); lacks {
		t.Fatal(why)
	}
	w.Nodes[1].Server, w.Nodes[1].Stranger = nil, "the server of pod bank/web-0-0/x"
	words := "web-0-1 does not answer: at its address " + w.Nodes[1].Addr + " answers the server of pod bank/web-0-0/x"
	if why, _ := w.lacks(); why != words {
		t.Errorf("it lacks %q", why)
	}
	if d, _ := waitForPods(w); !strings.Contains(d.Message, words) {
		t.Errorf("a new cluster says %q", d.Message)
	}
}
