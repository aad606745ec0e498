package access

import "testing"

// What is staged while some servers are silent, and what in the place of a certificate that
// has ended.
func TestRenewal(t *testing.T) {
	a, again, b := material("a", "a"), material("a again", "a"), material("b", "b")
	both := b
	both.Authorities = union(a.Authorities, b.Authorities)
	for what, c := range map[string]struct {
		staged, given Material
		ended         bool
		want          Material // is staged; none is that servers load what is
	}{
		"a certificate of the same authority":     {a, again, false, again},
		"one of another: some may not believe it": {a, b, false, Material{}},
		"the old one has ended":                   {a, b, true, both},
		"both have the same authority":            {a, again, true, again},
		"the new one is shown already":            {both, b, true, Material{}},
		"there is nothing in the files":           {Material{}, a, false, a},
		"it is as it should be":                   {a, a, false, Material{}},
		"there is no other":                       {a, a, true, Material{}},
	} {
		w := World{Staged: c.staged, Given: c.given, Ended: c.ended, Nodes: []Node{{Name: "x", Server: &Server{Material: FilesOf("")}}}}
		steps, stage := Renewal(w)
		switch {
		case c.want == Material{} && (stage != nil || len(steps) != 1):
			t.Errorf("%s: %v, %v", what, steps, stage != nil)
		case c.want != Material{} && (stage == nil || *stage != c.want):
			t.Errorf("%s: %v", what, steps)
		}
		if _, all, _ := NextCertificates(w); c.ended && (c.want != Material{}) && (all == nil || *all != c.want) {
			t.Errorf("%s: also where all answer", what)
		}
	}
	if steps, stage := Renewal(World{}); steps != nil || stage != nil {
		t.Error("without certificates there is something to do")
	}
}
