package runtimetelemetry

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
	"github.com/statecraft-dev/statecraft/internal/classruntime/telemetry/fake"
)

// pods plays pods: it serves what each has counted, and tells Prometheus of them by a file.
type pods struct {
	server *httptest.Server
	file   string
	ended  chan struct{} // what hangs does so until then

	mu      sync.Mutex
	running map[string]*fake.Process
}

func startPods(t *testing.T) *pods {
	t.Helper()
	p := &pods{file: filepath.Join(t.TempDir(), "targets.json"), ended: make(chan struct{}), running: map[string]*fake.Process{}}
	p.server = httptest.NewServer(p)
	if err := p.tell(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		close(p.ended)
		p.server.Close()
	})
	return p
}

// ServeHTTP implements http.Handler: the path is /pods/NAME/PORT.
func (p *pods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	name, port := path.Split(strings.TrimPrefix(r.URL.Path, "/pods/"))
	pod, is := p.running[path.Clean(name)]
	text, hangs := "", is && pod.Pod().Hangs
	if is && port == "0" {
		text = pod.Text(time.Now())
	}
	p.mu.Unlock()
	switch {
	case !is:
		http.NotFound(w, r)
	case hangs:
		select {
		case <-r.Context().Done():
		case <-p.ended:
		}
	default:
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write([]byte(text)) // Prometheus asks again
	}
}

func (p *pods) serve(name string, pod fake.Pod) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if running, is := p.running[name]; is && running.Pod().Key == pod.Key {
		running.Become(pod, time.Now())
		return nil
	}
	p.running[name] = fake.NewProcess(pod, time.Now())
	return p.tell()
}

func (p *pods) restart(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running[name] = fake.NewProcess(p.running[name].Pod(), time.Now())
	return nil
}

func (p *pods) remove(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.running, name)
	return p.tell()
}

// target is one in a file for Prometheus.
type target struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels"`
}

// tell writes the file. Prometheus sees it at once, because another takes its place.
func (p *pods) tell() error {
	list := []target{}
	for name, pod := range p.running {
		key := pod.Pod().Key
		for port := range max(1, pod.Pod().Ports) {
			list = append(list, target{[]string{strings.TrimPrefix(p.server.URL, "http://")}, map[string]string{
				"__metrics_path__": fmt.Sprintf("/pods/%s/%d", name, port), "port": strconv.Itoa(port), load.PodLabel: name,
				load.NamespaceLabel: key.Namespace, load.ClassLabel: key.Class, load.FunctionLabel: key.Function,
			}})
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := os.WriteFile(p.file+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(p.file+".new", p.file)
}
