package plugin

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/statecraft-dev/statecraft/docs/runbooks"
	"github.com/statecraft-dev/statecraft/internal/explain"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

var update = flag.Bool("update", false, "write the golden texts anew")

// situation is an object with all that was read of it, as a file of testdata has it.
type situation struct {
	Now    time.Time       `json:"now"`
	Object map[string]any  `json:"object"`
	Events []explain.Event `json:"events"`
	Leader struct {
		Lease   string    `json:"lease"`
		Hidden  bool      `json:"hidden"`
		Found   bool      `json:"found"`
		Holder  string    `json:"holder"`
		Renewed time.Time `json:"renewed"`
		Seconds int       `json:"seconds"`
	} `json:"leader"`
	Children []explain.Child `json:"children"`
	Unseen   []string        `json:"unseen"`
}

// current stands in a file for the hash of the machine as it is.
const current = "CURRENT"

func situations(t *testing.T) map[string]explain.Facts {
	t.Helper()
	files, err := filepath.Glob("testdata/why/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no situations: %v", err)
	}
	all := map[string]explain.Facts{}
	for _, file := range files {
		all[strings.TrimSuffix(filepath.Base(file), ".yaml")] = parse(t, file, contents(t, file))
	}
	return all
}

func contents(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func parse(t *testing.T, file string, text []byte) explain.Facts {
	t.Helper()
	var s situation
	if err := yaml.UnmarshalStrict(text, &s); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	obj := &unstructured.Unstructured{Object: s.Object}
	k := kindOf(t, obj.GroupVersionKind().GroupKind())
	f, err := k.read(obj, s.Now)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if f.Sections, err = k.sections(obj, s.Now); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if f.Progress.MachineHash == current {
		f.Progress.MachineHash = k.Machine.Table.Hash
	}
	f.Events, f.Unseen, f.Children = s.Events, s.Unseen, s.Children
	f.Leader = explain.Leader{
		Lease: s.Leader.Lease, Hidden: s.Leader.Hidden, Found: s.Leader.Found, Holder: s.Leader.Holder,
		Renewed: s.Leader.Renewed, Duration: time.Duration(s.Leader.Seconds) * time.Second,
	}
	return f
}

func kindOf(t *testing.T, gk schema.GroupKind) Kind {
	t.Helper()
	kinds := Kinds()
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.GroupKind == gk })
	if i < 0 {
		t.Fatalf("no area has %s", gk)
	}
	return kinds[i]
}

// The answers in full, as a person reads them. Each names who must act, unless nobody must.
func TestWhy(t *testing.T) {
	for name, f := range situations(t) {
		a := explain.Why(f)
		golden(t, filepath.Join("testdata/why", name+".golden"), a.Text())
		who := func(actor string) bool { return slices.Contains(a.Acts, actor) }
		if !a.AsWished && (!slices.ContainsFunc(runbooks.Actors, who) || a.ReadOn == "") {
			t.Errorf("%s: does not say who must act, or where to read on: %v %q", name, a.Acts, a.ReadOn)
		}
		if a.AsWished != (name == "healthy") {
			t.Errorf("%s: as wished is %t", name, a.AsWished)
		}
	}
}

func TestStatus(t *testing.T) {
	all := situations(t)
	for _, name := range []string{"quota", "plan_not_approved", "failover_not_approved", "approval_awaited", "outcome_unknown"} {
		golden(t, filepath.Join("testdata/status", name+".golden"), explain.Status(all[name]).Text())
	}
	done := filepath.Join("testdata", "status", "execution_done.yaml")
	golden(t, "testdata/status/execution_done.golden", explain.Status(parse(t, done, contents(t, done))).Text())
	byKind := map[string][]explain.Row{}
	for _, name := range []string{"paused", "image_missing", "healthy", "failed_capture", "unknown_phase", "failover_not_approved"} {
		f := all[name]
		f.Name = strings.ReplaceAll(name, "_", "-")
		byKind[f.Table.Kind] = append(byKind[f.Table.Kind], explain.Line(f))
	}
	o := explain.Overview{Notes: []string{"These kinds are not installed: ManifestCaptureRequest."}}
	for _, k := range Kinds() {
		o.Kinds = append(o.Kinds, explain.Group{Kind: k.GroupKind.Kind, Rows: byKind[k.GroupKind.Kind]})
	}
	golden(t, "testdata/status/overview.golden", o.Text(true))
}

func golden(t *testing.T, file, text string) {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		if utf8.RuneCountInString(line) > 80 {
			t.Errorf("%s: more than 80 columns: %s", file, line)
		}
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (-update writes it anew): %s", file, diff)
	}
}

// The situations are ones that can be: their machine has every move of their history.
func TestSituationsCanBe(t *testing.T) {
	for name, f := range situations(t) {
		if f.Progress.MachineHash != f.Table.Hash {
			continue
		}
		for _, m := range f.Progress.History {
			way := fsm.Edge{From: m.From, On: m.Event, To: m.To}
			if m.From != "" && !slices.Contains(f.Table.Phases[m.From].Ways, way) {
				t.Errorf("%s: no machine moves %v", name, way)
			}
		}
		for _, l := range f.Lanes {
			if _, known := f.Table.Lanes[l.Phase]; !known {
				t.Errorf("%s: %s is in the unknown phase %s", name, l.Name, l.Phase)
			}
		}
	}
}
