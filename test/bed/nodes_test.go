package bed_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	soon      = timeout.Wait
	askEvery  = 200 * time.Millisecond
	oneAnswer = 5 * time.Second
	waitFlag  = "--timeout=60s"
	oneNode   = 1
)

type valkeyVersion struct{ Name, Image, Version string }

var valkeys = []valkeyVersion{
	{Name: "valkey-80", Image: images.Valkey80, Version: "8.0."},
	{Name: "valkey-81", Image: images.Valkey81, Version: "8.1."},
	{Name: "valkey-91", Image: images.Valkey91, Version: "9.1."},
}

func TestStatefulSetsOfEveryValkeyVersionRun(t *testing.T) {
	b := bedtest.Nodes(t, oneNode)
	namespace := bedtest.Namespace(t, b)
	for _, v := range valkeys {
		if err := b.LoadImages(t.Context(), v.Image); err != nil {
			t.Fatal(err)
		}
	}
	apply(t, b, namespace, fill(t, "testdata/valkey.yaml", valkeys))
	for _, v := range valkeys {
		kubectl(t, b, namespace, "rollout", "status", "statefulset/"+v.Name, waitFlag)
		info := kubectl(t, b, namespace, "exec", v.Name+"-0", "--", "valkey-cli", "info", "server")
		if !strings.Contains(info, "valkey_version:"+v.Version) {
			t.Errorf("%s runs another version than %s:\n%s", v.Name, v.Version, info)
		}
		// Through the Service, from a pod of another StatefulSet.
		address := kubectl(t, b, namespace, "get", "service", v.Name, "--output=jsonpath={.spec.clusterIP}")
		eventually(t, "a write through Service "+v.Name, func(ctx context.Context) (string, bool) {
			out, err := b.Kubectl(ctx, "--namespace="+namespace, "exec", "valkey-80-0", "--",
				"valkey-cli", "-h", address, "set", "key", v.Name)
			return out, err == nil && strings.TrimSpace(out) == "OK"
		})
		got := kubectl(t, b, namespace, "exec", v.Name+"-0", "--", "valkey-cli", "get", "key")
		if strings.TrimSpace(got) != v.Name {
			t.Errorf("%s holds %q, want what was written through its Service", v.Name, got)
		}
	}
}

func TestPodsLogExecServeAndFinish(t *testing.T) {
	b := bedtest.Nodes(t, oneNode)
	namespace := bedtest.Namespace(t, b)
	if err := b.LoadImages(t.Context(), images.Busybox); err != nil {
		t.Fatal(err)
	}
	apply(t, b, namespace, "testdata/tools.yaml")
	kubectl(t, b, namespace, "wait", "pod/tools", "--for=condition=Ready", waitFlag)
	if out := kubectl(t, b, namespace, "logs", "tools"); out != "hello from the log\n" {
		t.Errorf("log %q", out)
	}
	if out := kubectl(t, b, namespace, "exec", "tools", "--", "hostname"); out != "tools\n" {
		t.Errorf("exec printed %q", out)
	}
	address := kubectl(t, b, namespace, "get", "service", "tools", "--output=jsonpath={.spec.clusterIP}")
	for from, ask := range map[string]func(context.Context) (string, error){
		"a pod": func(ctx context.Context) (string, error) {
			return b.Kubectl(ctx, "--namespace="+namespace, "exec", "tools", "--", "wget", "-q", "-O-", "http://"+address)
		},
		"the node": func(ctx context.Context) (string, error) {
			const get = `exec 3<>/dev/tcp/$0/80 && printf 'GET / HTTP/1.0\r\n\r\n' >&3 && cat <&3`
			out, err := b.Node(1).Command(ctx, "bash", "-c", get, address).CombinedOutput()
			return string(out), err
		},
		"the host": func(ctx context.Context) (string, error) { return httpGet(ctx, "http://"+address) },
	} {
		eventually(t, "an answer through the Service, asked from "+from, func(ctx context.Context) (string, bool) {
			ctx, cancel := context.WithTimeout(ctx, oneAnswer)
			defer cancel()
			out, err := ask(ctx)
			return out, err == nil && strings.HasSuffix(out, "served\n")
		})
	}
	kubectl(t, b, namespace, "wait", "job/count", "--for=condition=Complete", waitFlag)
	if out := kubectl(t, b, namespace, "logs", "job/count"); !strings.HasPrefix(out, "1\n2\n3\n") {
		t.Errorf("log of job %q", out)
	}
}

func httpGet(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	return string(body), err
}

func kubectl(t *testing.T, b *bed.Bed, namespace string, args ...string) string {
	t.Helper()
	out, err := b.Kubectl(t.Context(), append([]string{"--namespace=" + namespace}, args...)...)
	if err != nil {
		events, _ := b.Kubectl(context.Background(), "--namespace="+namespace, "get", "pods,events", "--output=wide")
		t.Fatalf("%v\n%s", err, events)
	}
	return out
}

func apply(t *testing.T, b *bed.Bed, namespace, file string) {
	t.Helper()
	kubectl(t, b, namespace, "apply", "--filename="+file)
}

// fill writes a manifest from a template and returns its path.
func fill(t *testing.T, file string, values any) string {
	t.Helper()
	var manifest bytes.Buffer
	parsed, err := template.ParseFiles(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := parsed.Execute(&manifest, values); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(path, manifest.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// eventually asks until the answer is yes: a Service refuses connections for a moment after its pod is ready.
func eventually(t *testing.T, what string, ask func(context.Context) (string, bool)) {
	t.Helper()
	var last string
	err := wait.PollUntilContextTimeout(t.Context(), askEvery, soon, true, func(ctx context.Context) (bool, error) {
		var done bool
		last, done = ask(ctx)
		return done, nil
	})
	if err != nil {
		t.Fatalf("%s: %v; last seen: %s", what, err, last)
	}
}
