package access

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// staged is servers that load what their pods' files hold, and what the operator keeps.
type staged struct {
	*model
	kept, given Material
	pods        []Material // the files of each pod
	loaded      []Material
	story       []string
}

func newStaged(is Material) *staged {
	s := &staged{model: newModel(before), kept: is, given: is}
	for range s.nodes {
		s.pods, s.loaded = append(s.pods, is), append(s.loaded, is)
	}
	for i := range s.nodes {
		s.start(i)
	}
	return s
}

// start lets a server start with the files of its pod.
func (s *staged) start(i int) {
	s.loaded[i] = s.pods[i]
	s.nodes[i].Server.Material = FilesOf("")
}

// step does what comes next, and says whether that was all.
func (s *staged) step(proven bool) (done bool) {
	w := s.world()
	w.Staged, w.Given, w.Proven = s.kept, s.given, proven
	steps, stage, doubt := NextCertificates(w)
	for _, step := range steps {
		i := slices.IndexFunc(s.nodes, func(n *modeled) bool { return n.Name == step.At() })
		if load, is := step.(LoadCertificates); is {
			if load.Material != s.pods[i].Name() {
				continue // it refuses: there is no such file
			}
			s.loaded[i] = s.pods[i]
		}
		s.do(step)
		s.story = append(s.story, step.String())
		s.settle()
	}
	if stage != nil {
		s.kept = *stage
		s.story = append(s.story, "stage "+stage.Name())
	}
	return len(steps) == 0 && stage == nil && doubt == ""
}

// unbelieved finds a server that would not verify another, or the program beside one that
// would not, or that the operator would not.
func (s *staged) unbelieved() (string, bool) {
	for i, shown := range s.loaded {
		by := block(strings.Fields(strings.TrimPrefix(string(split(shown.Certificate)[0].Bytes), "by "))[0])
		for j, other := range s.loaded {
			if !believes(other.Authorities, by) {
				return fmt.Sprintf("%d does not believe %d", j, i), true
			}
		}
		if !believes(s.pods[i].Authorities, by) {
			return fmt.Sprintf("the program beside %d does not believe it", i), true
		}
		if !believes((Keys{Staged: s.kept, Given: s.given}).Believed(), by) {
			return fmt.Sprintf("the operator does not believe %d", i), true
		}
	}
	return "", false
}

const stages = 60

// Files reach the pods one after the other, servers start again at any time, and the
// operator forgets: everybody believes everybody all the time, and all end with what is given.
func TestANewAuthorityInOneEdit(t *testing.T) {
	a, b := material("a", "a"), material("b", "b")
	for _, late := range []int{0, 3} {
		for _, restarts := range []int{0, 3} {
			for at := 0; at < stages/2; at += 2 {
				s := newStaged(a)
				s.given = b
				done := false
				for n := 0; n < stages && !done; n++ {
					done = s.step(false)
					if pod := n % 4; pod != late || n%3 == 0 {
						s.pods[pod] = s.kept
					}
					if n == at {
						s.start(restarts)
						s.memory = nil
					}
					if who, strange := s.unbelieved(); strange {
						t.Fatalf("pod %d is late, %d starts after %d: %s after\n%s", late, restarts, at, who, strings.Join(s.story, "\n"))
					}
				}
				if !done || slices.ContainsFunc(s.loaded, func(m Material) bool { return m != b }) {
					t.Fatalf("pod %d is late, %d starts after %d: not done by\n%s", late, restarts, at, strings.Join(s.story, "\n"))
				}
			}
		}
	}
}

// Each stage is loaded by all and tried by one link before the next.
func TestStagesOfCertificates(t *testing.T) {
	a, b := material("a", "a"), material("b", "b")
	s := newStaged(a)
	s.given = b
	for !s.step(false) && len(s.story) < stages {
		copy(s.pods, slices.Repeat([]Material{s.kept}, 4))
	}
	var want []string
	for i, m := range []Material{a, material("a", "a", "b"), material("b", "a", "b"), b} {
		if i > 0 {
			want = append(want, "stage "+m.Name())
		}
		for n := range 4 {
			want = append(want, fmt.Sprintf("load certificates %s at %d", m.Name(), n))
		}
		want = append(want, fmt.Sprintf("break link %d of 2 to its primary", i+1))
	}
	if got := strings.Join(s.story, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the story is\n%s", got)
	}
	s.story = nil
	if s.memory = nil; !s.step(true) || s.story != nil {
		t.Errorf("what is proven is tried again: %v", s.story)
	}
	s.kept = Material{}
	if s.step(true) || !slices.Equal(s.story, []string{"stage " + b.Name()}) {
		t.Errorf("what is not kept any more: %v", s.story)
	}
	s.nodes[1].Server = nil
	if _, _, doubt := NextCertificates(World{Staged: b, Given: b, Proven: true, Nodes: []Node{{Name: "x"}}}); doubt == "" {
		t.Error("a silent server is no doubt")
	}
}
