package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/statecraft-dev/statecraft/internal/areas"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

func TestFill(t *testing.T) {
	byKind := map[string]string{"Lamp": "new\n", "Bell": "ding\n"}
	for name, tc := range map[string]struct{ text, want, err string }{
		"a page without markers stays as it is": {text: "hello\n", want: "hello\n"},
		"what stood between the markers is replaced": {
			text: "a\n<!-- generated:diagram Lamp -->\nold\n<!-- /generated -->\nb\n",
			want: "a\n<!-- generated:diagram Lamp -->\nnew\n<!-- /generated -->\nb\n",
		},
		"every pair is filled, an empty one too": {
			text: "<!-- generated:diagram Lamp --><!-- /generated --> <!-- generated:diagram Bell -->\n<!-- /generated -->",
			want: "<!-- generated:diagram Lamp -->\nnew\n<!-- /generated --> <!-- generated:diagram Bell -->\nding\n<!-- /generated -->",
		},
		"an unknown kind is refused": {
			text: "<!-- generated:diagram Horn -->\n<!-- /generated -->", err: "unknown kind",
		},
		"a marker that is not closed is refused, or it would eat the page": {
			text: "<!-- generated:diagram Lamp -->\ntext", err: "nothing closes",
		},
		"a marker that does not end is refused": {
			text: "<!-- generated:diagram Lamp\ntext --> <!-- /generated -->", err: "does not end on its line",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := fill(tc.text, byKind)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("error %v, want %q", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const declarations = `package lamp

const Why fsm.Reason = "Alone" // unheard: the line above wins

// ReasonPaused is said
// while | paused.
const ReasonPaused fsm.Reason = "Paused"

// Words about the group say nothing about its members.
const (
	Dark    Reason = "Dark" // no light
	Blown   meta.Event = "Blown"
	Other   = "Other"
	Count   int = 3
)
`

func TestConstants(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"lamp.go": declarations, "lamp_test.go": "package lamp\n\nconst T fsm.Reason = \"T\""} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := constants(root, ".")
	if err != nil {
		t.Fatal(err)
	}
	want := []constant{
		{kind: "Reason", value: "Alone", doc: "unheard: the line above wins"},
		{kind: "Reason", value: "Paused", doc: "said while \\| paused."},
		{kind: "Reason", value: "Dark", doc: "no light"},
		{kind: "Event", value: "Blown", doc: ""},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(constant{}), cmpopts.IgnoreFields(constant{}, "name")); diff != "" {
		t.Error(diff)
	}
}

type lamp []fsm.Reason

func (lamp) Reference() string       { return "phases\n" }
func (lamp) Diagram() string         { return "" }
func (l lamp) Reasons() []fsm.Reason { return l }

func TestEveryReasonHasASentence(t *testing.T) {
	kernel := []constant{{kind: "Event", value: "Created", doc: "seen first"}}
	m := machine{areas.Machine{Kind: "Lamp", Drawing: lamp{"Created", "Blown"}}}
	said := []constant{{kind: "Reason", value: "Dark", doc: "no light"}, {kind: "Event", value: "Blown", doc: "it is broken"}}
	page, err := m.page(said, kernel)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"| `Blown` | it is broken |", "| `Created` | seen first |", "| `Dark` | no light |"} {
		if !strings.Contains(page, line) {
			t.Errorf("the page lacks %q:\n%s", line, page)
		}
	}
	said[0].doc = ""
	if _, err := m.page(said, kernel); err == nil {
		t.Error("a reason without a sentence was accepted")
	}
	said[0].doc, said[1].doc = "no light", ""
	if _, err := m.page(said, kernel); err == nil {
		t.Error("an event that serves as a reason was accepted without a sentence")
	}
}

func TestEveryReasonHasAnExample(t *testing.T) {
	m := machine{areas.Machine{Kind: "ValkeyCluster"}}
	reasons := []constant{{value: "Dark"}, {value: "Circling"}, {value: "EditUndone"}}
	if err := m.unsaid("| `Dark` | Off |  | The lamp is off. |\n", reasons); err != nil {
		t.Error(err)
	}
	for want, text := range map[string]string{"reason Dark": "| `Darker` |", "needs no excuse": "`Dark`, `EditUndone`"} {
		if err := m.unsaid(text, reasons); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestMessagesAreCurrent: the page is made of what the tests of machines have written.
func TestMessagesAreCurrent(t *testing.T) {
	root := filepath.Join("..", "..")
	pages, err := reference(root)
	if err != nil {
		t.Fatal(err)
	}
	is, err := os.ReadFile(filepath.Join(root, "docs", "reference", "messages.md"))
	if diff := cmp.Diff(pages["messages.md"], string(is)); err != nil || diff != "" {
		t.Errorf("run make generate: %v\n%s", err, diff)
	}
}

// A diagram is for one look. One with more arrows wants its phases in groups.
func TestDiagramsHaveFewArrows(t *testing.T) {
	for name, diagram := range diagrams() {
		if arrows := strings.Count(diagram, "-->"); arrows > 32 {
			t.Errorf("%s: %d arrows", name, arrows)
		}
	}
}
