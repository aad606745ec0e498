package proof

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEvidenceIsOfTheVerySubject(t *testing.T) {
	pod := Subject{Kind: "Pod", Namespace: "shop", Name: "web-0-1", UID: "p1"}
	other := Subject{Kind: "Pod", Namespace: "shop", Name: "web-0-2", UID: "p2"}
	nameless := Subject{Kind: "Pod", Namespace: "shop", Name: "web-0-3"}
	e := New("it never ran", pod, other, nameless)
	if !e.Of(pod) || !e.Of(other) {
		t.Error("it is not of what it was made for")
	}
	for name, change := range map[string]func(*Subject){
		"its successor":             func(s *Subject) { s.UID = "p9" },
		"the UID of another":        func(s *Subject) { s.UID = "p2" },
		"whoever has its name":      func(s *Subject) { s.UID = "" },
		"another name":              func(s *Subject) { s.Name = "web-0-2" },
		"another namespace":         func(s *Subject) { s.Namespace = "bank" },
		"another kind":              func(s *Subject) { s.Kind = "server" },
		"one that was seen with no": func(s *Subject) { *s = nameless },
		"nothing":                   func(s *Subject) { *s = Subject{} },
		"all of it":                 func(s *Subject) { *s = Subject{UID: "p1\nPod"} },
	} {
		s := pod
		if change(&s); e.Of(s) {
			t.Errorf("it is of %s, too", name)
		}
	}
	if diff := cmp.Diff([]Subject{pod, other}, e.Subjects()); diff != "" {
		t.Error(diff)
	}
	if (Evidence{}).Of(Subject{}) || len((Evidence{}).Subjects()) != 0 {
		t.Error("no evidence is of something")
	}
	if e != New("it never ran", pod, other) || e == New("it never ran", pod) {
		t.Error("evidence is compared by what it is of")
	}
}

func TestAge(t *testing.T) {
	noon := time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	e := New("all is well", Subject{Kind: "Pod", Name: "a", UID: "p1"})
	if _, known := e.Age(noon); known {
		t.Error("when it was taken is made up")
	}
	if age, known := e.TakenAt(noon.Add(-3 * time.Second)).Age(noon); !known || age != 3*time.Second {
		t.Errorf("age %s, known %t", age, known)
	}
}
