//go:build full

package product

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/internal/areas"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/monitoring"
)

// TestInstallPageWorksAsPrinted types the commands of docs/install.md, with a registry from which nodes pull what was pushed, and
// then those on the first screen of the README. Whoever follows the page ends where it began: with nothing of ours.
func TestInstallPageWorksAsPrinted(t *testing.T) {
	s := newEmptyStage(t, config.Namespace)
	r := &reader{stage: s, page: harness.Page(t, "docs/install.md"), me: s.person(), typed: map[string]bool{manifestCommand: true}}
	var vkc *valkeyv1.ValkeyCluster
	var servers map[string]server
	uninstalled := false
	for _, statement := range harness.Statements(r.page) {
		out := r.me.Must(statement)
		switch {
		case strings.HasPrefix(statement, "helm install "):
			r.follows(out)
			vkc = s.works()
			servers = s.servers(vkc)
		case strings.HasPrefix(statement, "make plugin"):
			r.me.Must(`PATH="$PWD/bin:$PATH" kubectl statecraft status -A`)
		case strings.HasPrefix(statement, "helm upgrade "):
			s.managersReady()
			s.same(vkc, servers)
		case strings.HasPrefix(statement, "helm uninstall ") && !uninstalled:
			uninstalled = true
			r.moves(vkc)
			s.same(vkc, servers)
		}
	}
	s.isEmpty()
	r.typedAll()

	r.me.Must("kubectl delete namespace " + s.system)
	screen, _, _ := strings.Cut(harness.Page(t, "README.md"), "\n## ")
	for _, statement := range harness.Statements(screen) {
		r.me.Must(statement)
	}
	s.managersReady()
	another := cluster(bedtest.Namespace(t, s.bed), "orders", small)
	s.create(another)
	s.condition(another.Namespace, "vkc/orders", "Ready")
	harness.Row(t, "every command works as printed, and nodes pull what was pushed")
}

// manifestCommand is typed by TestPlainManifestWorks.
const manifestCommand = "kubectl apply --server-side -f"

// reader types what the install page says in its text, too, and notes what was typed.
type reader struct {
	*stage
	page  string
	me    *harness.Person
	typed map[string]bool
}

// follows types what Helm says at the end of an installation.
func (r *reader) follows(notes string) {
	r.Helper()
	commands := 0
	for line := range strings.Lines(notes) {
		if command, is := strings.CutPrefix(strings.TrimSpace(line), "kubectl rollout "); is {
			r.me.Must("kubectl rollout " + command + " --timeout=" + managersUp.String())
			commands++
		}
	}
	if commands != len(areas.All()) {
		r.Errorf("Helm does not say how to wait for the managers:\n%s", notes)
	}
}

// types types a command of the text, with names in place of those that stand for them.
func (r *reader) types(command string, names ...string) string {
	r.Helper()
	if !strings.Contains(r.page, "`"+command+"`") {
		r.Fatalf("the page does not say %s", command)
	}
	r.typed[command] = true
	return r.me.Must(strings.NewReplacer(names...).Replace(command))
}

// moves takes the way of the page to a release of another name, to another namespace, and back. Nothing is installed when it begins.
func (r *reader) moves(vkc *valkeyv1.ValkeyCluster) {
	r.Helper()
	const chart = "dist/statecraft-*.tgz"
	words := "exists and cannot be imported into the current release"
	out, err := r.me.Type("helm install prod " + chart + " --namespace=" + r.system)
	if err == nil || !strings.Contains(out, words) || !strings.Contains(r.page, words) {
		r.Fatalf("%v\nHelm or the page do not say %q:\n%s", err, words, out)
	}
	r.types("helm install NAME … --take-ownership", "NAME …", "prod "+chart+" --namespace="+r.system)
	r.managersReady()
	r.me.Must("cd " + r.TempDir() + "\n" + keys(r.T))

	old, next := r.system, "platform"
	r.me.Must("kubectl create namespace " + next)
	r.types("kubectl get secret statecraft-capture-keys -n OLD -o yaml", "OLD", old,
		"-o yaml", "-o yaml | sed -e 's/namespace: .*/namespace: "+next+"/' -e '/uid:/d' -e '/resourceVersion:/d' | kubectl apply -f -")
	r.typed["kubectl apply -f -"] = true // at the end of that pipe
	r.types("helm uninstall statecraft --namespace=OLD", "statecraft", "prod", "OLD", old)
	r.types("helm install NAME … --namespace=NEW --take-ownership", "NAME …", "moved "+chart, "NEW", next)
	r.system = next
	r.managersReady()
	r.condition(vkc.Namespace, "vkc/"+vkc.Name, "Ready")
	r.types("kubectl get pvc -n OLD", "OLD", old)
	volume := r.kubectl("get", "pvc", "-n", vkc.Namespace, "data-orders-0-0", "-o", "jsonpath={.spec.volumeName}")
	retain := `kubectl patch pv NAME -p '{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}'`
	r.types(retain, "NAME", volume)
	r.me.Must(strings.NewReplacer("NAME", volume, "Retain", "Delete").Replace(retain))

	r.me.Must("helm uninstall moved --namespace=" + next)
	r.me.Must("kubectl delete namespace " + next)
	r.system = old
	r.me.Must("helm install statecraft " + chart + " --namespace=" + old + " --take-ownership")
	r.managersReady()
}

// keys are the commands that make the keys of area capture.
func keys(t *testing.T) string {
	t.Helper()
	commands := regexp.MustCompile("(?ms)^```console\n(head .*?)^```$").FindStringSubmatch(harness.Section(t, "docs/areas/capture.md", "## Installing"))
	if commands == nil {
		t.Fatal("docs/areas/capture.md does not say how to make keys")
	}
	return commands[1]
}

var (
	fencedBlock   = regexp.MustCompile("(?ms)^```.*?^```$")
	inlineCommand = regexp.MustCompile("`((?:helm|kubectl)(?: [^` ]+){3,})`")
)

// typedAll: of the commands in the text of the page, none was left out.
func (r *reader) typedAll() {
	r.Helper()
	for _, command := range inlineCommand.FindAllStringSubmatch(fencedBlock.ReplaceAllString(r.page, ""), -1) {
		if !r.typed[command[1]] {
			r.Errorf("no test types %s", command[1])
		}
	}
}

// person has this cluster to work with, Helm, and a registry.
func (s *stage) person() *harness.Person {
	s.Helper()
	dir, err := parts.Dir(s.Context(), parts.Helm)
	if err != nil {
		s.Fatal(err)
	}
	var path string
	var env []string
	for _, e := range s.bed.Environment() {
		if p, is := strings.CutPrefix(e, "PATH="); is {
			path = p // the last counts
		} else {
			env = append(env, e)
		}
	}
	env = append(env, "PATH="+dir+string(os.PathListSeparator)+path, "REGISTRY="+s.registry())
	for _, folder := range []string{"CACHE", "CONFIG", "DATA"} {
		env = append(env, "HELM_"+folder+"_HOME="+s.TempDir())
	}
	return harness.NewPerson(s, env)
}

// registry starts that of the library which builds images, and lets nodes pull from it. It returns its name, with a folder.
func (s *stage) registry() string {
	s.Helper()
	address, program := monitoring.FreeAddress(s), filepath.Join(s.TempDir(), "registry")
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		s.Fatal(err)
	}
	build := exec.CommandContext(s.Context(), "go", "-C", filepath.Join(harness.Root(s), "hack", "images"), "build", "-o", program, "./registry")
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		s.Fatalf("build the registry: %v\n%s", err, out)
	}
	forNodes, err := s.bed.PullFrom(port)
	if err != nil {
		s.Fatal(err)
	}
	cmd := exec.Command(program, "-dir", s.TempDir(), address, forNodes)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	harness.Eventually(s, within, poll, func() error {
		answer, err := http.Get("http://" + address + "/v2/")
		if err == nil {
			err = answer.Body.Close()
		}
		return err
	})
	return fmt.Sprintf("localhost:%s/team", port)
}
