package areas

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/law"
)

// parts is what every area has. An area that lacks one cannot be installed, watched, understood
// or trusted.
func (a Area) parts() []string {
	parts := []string{
		"api/" + a.Name, "internal/" + a.Code, "cmd/" + a.Program,
		"config/crd/" + a.Name, "config/rbac/" + a.Name, "config/alerts/" + a.Name + ".yaml", "config/dashboards/" + a.Name + ".json", "config/samples/" + a.Name,
		"docs/areas/" + a.Name + ".md", "docs/runbooks/" + a.Name + ".md", "docs/tours/" + a.Name + ".md",
		"test/sim/" + a.Code, "test/e2e/" + a.Code, "test/monitoring/alerts/" + a.Name + ".yaml",
	}
	for _, account := range a.Beside {
		parts = append(parts, "config/rbac/"+account)
	}
	return parts
}

// mentions are the pages that name every area, each with the words by which it does.
func (a Area) mentions() map[string][]string {
	words := map[string][]string{
		".github/CODEOWNERS":                   {"\n/api/" + a.Name + "/ ", "\n/internal/" + a.Code + "/ ", "\n/docs/areas/" + a.Name + "*.md "},
		"docs/runbooks/statecraft.md":          {"(" + a.Name + ".md)"},
		"docs/areas/" + a.Name + ".md":         {"(../tours/" + a.Name + ".md)", "(../runbooks/" + a.Name + ".md"},
		"docs/where-is-it-decided.md":          {"(../internal/" + a.Code + "/"},
		"config/alerts/" + a.Name + ".yaml":    {"runbook: docs/runbooks/" + a.Name + ".md#"},
		"config/rbac/" + a.Name + "/role.yaml": {"name: statecraft-" + a.Name + "\n"},
		"hack/images/programs.go":              {`Name: "` + a.Image() + `", Package: "./cmd/` + a.Program + `"`},
	}
	for _, image := range a.Images {
		words["hack/images/programs.go"] = append(words["hack/images/programs.go"], `Name: "`+image+`"`)
	}
	return words
}

func TestEveryAreaIsComplete(t *testing.T) {
	for _, a := range All() {
		for _, path := range a.parts() {
			if _, err := os.Stat(filepath.Join("..", "..", path)); err != nil {
				t.Errorf("area %s lacks %s", a.Name, path)
			}
		}
		if !slices.Contains(law.Areas, a.Code) {
			t.Errorf("the import law does not know %s: add it to law.Areas", a.Code)
		}
		setup := a.Default()
		if setup.Name != a.Name {
			t.Errorf("area %s calls itself %s", a.Name, setup.Name)
		}
		for _, kind := range setup.Kinds {
			if !slices.ContainsFunc(a.Machines, func(m Machine) bool { return m.Kind == kind.Kind }) {
				t.Errorf("area %s: the kind %s has no reference page: add its machine", a.Name, kind.Kind)
			}
		}
	}
}

// Scripts read the registry as text.
func TestScriptsFindTheCodeOfAnArea(t *testing.T) {
	for _, a := range append(All(), Area{Name: "unregistered", Code: "unregistered"}) {
		out, err := exec.CommandContext(t.Context(), "../../hack/code", a.Name).Output()
		if code := strings.TrimSpace(string(out)); err != nil || code != a.Code {
			t.Errorf("the code of area %s is in %s, and scripts look in %s: %v", a.Name, a.Code, code, err)
		}
	}
}

// An area that has all its parts can still be left out where people look for it.
func TestEveryAreaIsNamed(t *testing.T) {
	for _, a := range All() {
		for path, words := range a.mentions() {
			text, err := os.ReadFile(filepath.Join("..", "..", path))
			if err != nil {
				t.Errorf("area %s: %v", a.Name, err)
			}
			for _, w := range words {
				if !strings.Contains(string(text), w) {
					t.Errorf("%s does not name area %s: it lacks %q", path, a.Name, w)
				}
			}
		}
	}
}

// What lies where areas keep their parts belongs to an area.
func TestNothingIsLeftOfOtherAreas(t *testing.T) {
	known := map[string]bool{
		"api/meta": true, "config/rbac/statecraft": true, "test/e2e/product": true, "test/e2e/quickstart": true,
		"config/alerts/statecraft.yaml": true, "test/monitoring/alerts/statecraft.yaml": true, "docs/runbooks/statecraft.md": true,
		"docs/runbooks/runbooks.go": true, "docs/runbooks/parse.go": true, "docs/runbooks/runbooks_test.go": true,
	}
	for _, a := range All() {
		for _, path := range append(a.parts(), "config/admission/"+a.Name) {
			known[path] = true
		}
	}
	for _, name := range areasAhead {
		if _, registered := Find(name); registered {
			t.Errorf("area %s is registered, so it is not ahead", name)
		}
		for _, path := range []string{"api/" + name, "config/crd/" + name, "config/rbac/" + name} {
			known[path] = true
		}
	}
	for _, folder := range []string{"api", "config/crd", "config/rbac", "config/alerts", "config/dashboards", "test/monitoring/alerts", "config/samples", "config/admission", "docs/runbooks", "docs/tours", "test/e2e"} {
		entries, err := os.ReadDir(filepath.Join("..", "..", folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if path := folder + "/" + e.Name(); !known[path] {
				t.Errorf("%s belongs to no area: add the area to internal/areas, or remove it", path)
			}
		}
	}
}

// areasAhead are areas whose API and controllers are tried before they are registered: nothing of them is installed yet.
var areasAhead = []string{"edge"}

// ahead are machines that no controller runs yet: the reference does not speak of what an installation does not do.
var ahead []string

// Machines are found by the file that declares their phases.
func TestEveryMachineIsListed(t *testing.T) {
	files, err := filepath.Glob("../*/*/phases.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no machine found: %v", err)
	}
	for _, file := range files {
		folder := "internal/" + strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "../")
		listed := func(m Machine) bool { return slices.Contains(m.Folders, folder) }
		runs := slices.ContainsFunc(All(), func(a Area) bool { return slices.ContainsFunc(a.Machines, listed) })
		switch {
		case runs && slices.Contains(ahead, folder):
			t.Errorf("an area lists the machine of %s, so it is not ahead", folder)
		case !runs && !slices.Contains(ahead, folder):
			t.Errorf("no area lists the machine of %s", folder)
		}
	}
}
