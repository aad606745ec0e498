package capture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// What a one-shot pattern must not become, as far as the code itself shows it. What only a
// running system shows is in antipatterns_live_test.go.

// sources are the files of the area that are not tests, by their path.
func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	root, files := harness.Root(t), map[string]*ast.File{}
	for _, dir := range []string{"internal/capture", "cmd/statecraft-restorer", "api/capture"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if os.IsNotExist(err) {
				return nil
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(d.Name(), "zz_") {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			files[filepath.ToSlash(name)], err = parser.ParseFile(token.NewFileSet(), path, nil, 0)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(files) < 30 {
		t.Fatalf("found %d files only", len(files))
	}
	return files
}

// selected is X.Sel as text, "" if e is something else.
func selected(e ast.Expr) string {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if x, ok := s.X.(*ast.Ident); ok {
		return x.Name + "." + s.Sel.Name
	}
	return "." + s.Sel.Name
}

// where finds the files in which something occurs.
func where(t *testing.T, found func(ast.Node) bool) []string {
	t.Helper()
	files := map[string]bool{}
	for path, file := range sources(t) {
		ast.Inspect(file, func(n ast.Node) bool {
			if n != nil && found(n) {
				files[path] = true
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(files))
}

func TestOnlyKeepersOwn(t *testing.T) {
	references := where(t, func(n ast.Node) bool {
		lit, ok := n.(*ast.CompositeLit)
		return ok && selected(lit.Type) == "metav1.OwnerReference"
	})
	if diff := cmp.Diff([]string{"internal/capture/request/request.go"}, references); diff != "" {
		t.Errorf("owner references are made in other places: %s", diff)
	}
	shortcuts := regexp.MustCompile(`\.(SetControllerReference|SetOwnerReference|NewControllerRef)$`)
	if files := where(t, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		return ok && shortcuts.MatchString(selected(call.Fun))
	}); len(files) > 0 {
		t.Errorf("%v let something else than a keeper own artifacts", files)
	}
}

// TestNoFinalizersOfOurs finds who sets finalizers. A content is made with the one of its sidecar, without
// which its snapshot could outlive it.
func TestNoFinalizersOfOurs(t *testing.T) {
	setters := regexp.MustCompile(`\.(SetFinalizers|AddFinalizer)$`)
	files := where(t, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			key, ok := n.Key.(*ast.Ident)
			return ok && key.Name == "Finalizers"
		case *ast.AssignStmt:
			return slices.ContainsFunc(n.Lhs, func(e ast.Expr) bool { return strings.HasSuffix(selected(e), ".Finalizers") })
		case *ast.CallExpr:
			return setters.MatchString(selected(n.Fun))
		}
		return false
	})
	if diff := cmp.Diff([]string{"internal/capture/volumecapture/objects.go"}, files); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(volumecapture.BoundProtection, "snapshot.storage.kubernetes.io/") {
		t.Errorf("%s is not the sidecar's", volumecapture.BoundProtection)
	}
}

// TestNoVolumeSnapshots finds who speaks of them. A content must name one, though it never exists; and who
// has no right to make one cannot.
func TestNoVolumeSnapshots(t *testing.T) {
	kinds := regexp.MustCompile(`^snapshotv1\.VolumeSnapshot(List|Spec|Source|Status)?$`)
	files := where(t, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, err := strconv.Unquote(lit.Value)
			return err == nil && (text == "VolumeSnapshot" || text == "volumesnapshots")
		}
		e, ok := n.(ast.Expr)
		return ok && kinds.MatchString(selected(e))
	})
	if diff := cmp.Diff([]string{"internal/capture/volumecapture/objects.go"}, files); diff != "" {
		t.Error(diff)
	}
	for path, text := range roles(t) {
		if regexp.MustCompile(`(?m)^\s*- volumesnapshots\b`).MatchString(text) {
			t.Errorf("%s grants rights on VolumeSnapshots", path)
		}
	}
}

// roles are the manifests of the area that grant rights.
func roles(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(harness.Root(t), "config", "rbac", area, "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no roles: %v", err)
	}
	found := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.Base(path)] = string(text)
	}
	return found
}

// TestNobodyElseMayWriteAStatus looks at rights: only the manager's own role has any to the status of our kinds.
// The API server refuses the rest: see TestOnlyTheManagerWritesAStatus.
func TestNobodyElseMayWriteAStatus(t *testing.T) {
	for path, text := range roles(t) {
		if path != "role.yaml" && regexp.MustCompile(`(requests|objectkeepers)/status`).MatchString(text) {
			t.Errorf("%s grants rights on the status of our kinds", path)
		}
	}
}

func TestMachinesDoNotKnowTTL(t *testing.T) {
	for path, file := range sources(t) {
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(imported, "/internal/kube/ttl") && path != "internal/capture/setup_ttl.go" {
				t.Errorf("%s knows how old requests are deleted", path)
			}
		}
	}
	annotation := regexp.MustCompile(`(?i)statecraft\.dev/[a-z-]*ttl`)
	if files := where(t, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		return ok && lit.Kind == token.STRING && annotation.MatchString(lit.Value)
	}); len(files) > 0 {
		t.Errorf("%v know an annotation for it", files)
	}
}

// TestRequestsNeverGoBack looks at the tables: whatever happens, a request never is in a phase twice, so nothing
// is tried again.
func TestRequestsNeverGoBack(t *testing.T) {
	forward(t, &volumecapture.Machine)
	forward(t, &volumerestore.Machine)
	forward(t, &manifestcapture.Machine)
	forward(t, &manifestrestore.Machine)
}

func forward[T fsm.Subject[T], W any](t *testing.T, m *fsm.Machine[T, W]) {
	t.Helper()
	if !m.OneShot {
		t.Errorf("%s is no one-shot", m.Kind)
	}
	next := map[fsm.Phase][]fsm.Phase{}
	for phase, rule := range m.Phases {
		next[phase] = append(next[phase], slices.Collect(maps.Values(rule.On))...)
	}
	for _, guard := range m.Guards {
		for _, phase := range guard.In {
			next[phase] = append(next[phase], guard.To)
		}
	}
	var visit func(fsm.Phase, []fsm.Phase)
	visit = func(at fsm.Phase, way []fsm.Phase) {
		if slices.Contains(way, at) {
			t.Fatalf("%s goes in a circle: %v, %s", m.Kind, way, at)
		}
		for _, phase := range next[at] {
			visit(phase, append(slices.Clone(way), at))
		}
	}
	visit(m.Start, nil)
}
