package chart

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const poll = 100 * time.Millisecond // between two looks

// documented is the pod that the docs add the restorer to, with a container and the socket of its driver.
func documented(t *testing.T) *corev1.Pod {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(harness.Root(t), "docs", "areas", "capture-restorer.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```yaml\n")
	block, _, _ = strings.Cut(block, "```")
	pod := &corev1.Pod{}
	if err := yaml.UnmarshalStrict([]byte(block), pod); err != nil {
		t.Fatal(err)
	}
	pod.APIVersion, pod.Kind, pod.Name = "v1", "Pod", "driver"
	pod.Spec.ServiceAccountName = "driver"
	pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "driver", Image: "driver"})
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "socket-dir"})
	return pod
}

// subject is the user whose token it is.
func subject(t *testing.T, token string) string {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("a token of %d parts", len(parts))
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims struct {
		Sub string `json:"sub"`
	}
	if err := json.Unmarshal(text, &claims); err != nil {
		t.Fatal(err)
	}
	return claims.Sub
}

// TestTheRestorerHasItsOwnAccount in a pod that keeps that of the driver.
func TestTheRestorerHasItsOwnAccount(t *testing.T) {
	r := newRelease(t, "restorers")
	r.must("install", "--set=areas.capture.restorers[0].namespace="+r.namespace+",areas.capture.restorers[0].driver=disks.example.com")
	harness.Eventually(t, timeout.Wait, poll, func() error {
		token := r.kubectl("get", "secret", "statecraft-restorer", "-n", r.namespace, "-o", "go-template={{with .data.token}}{{. | base64decode}}{{end}}")
		if token == "" {
			return fmt.Errorf("it has no token yet")
		}
		if who := subject(t, token); who != "system:serviceaccount:"+r.namespace+":statecraft-restorer" {
			t.Fatalf("it is the token of %s", who)
		}
		return nil
	})

	r.kubectl("create", "serviceaccount", "driver", "-n", r.namespace)
	text, err := yaml.Marshal(documented(t))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pod.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if err := json.Unmarshal([]byte(r.kubectl("create", "-n", r.namespace, "-f", file, "-o", "json")), pod); err != nil {
		t.Fatal(err)
	}
	for _, c := range pod.Spec.Containers {
		var from []string
		for _, m := range c.VolumeMounts {
			if m.MountPath == "/var/run/secrets/kubernetes.io/serviceaccount" {
				from = append(from, m.Name)
			}
		}
		if len(from) != 1 || (from[0] == "statecraft-restorer") != (c.Name == "statecraft-restorer") {
			t.Errorf("container %s has the token of volumes %v", c.Name, from)
		}
	}
}
