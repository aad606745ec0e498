package spec

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/statecraft-dev/statecraft/internal/edge/entry"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

const cluster = entry.Cluster("0a1b2c3d")

func podOf(t testing.TB, name string) *corev1.Pod {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{}
	if err := yaml.UnmarshalStrict(text, pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func sources() Sources {
	return Sources{
		DeliversSecrets: true,
		ConfigMaps: map[string]*corev1.ConfigMap{
			"settings": {Data: map[string]string{"one": "a=1\n", "two": "$HOME stays"}, BinaryData: map[string][]byte{"blob": {0xff, 0x00}}},
			"plant":    {Data: map[string]string{"zone": "north", "2nd/key": "left out"}},
		},
		Secrets: map[string]*corev1.Secret{"login": {Data: map[string][]byte{"password": []byte("canary")}}},
	}
}

func written(c Conversion) []byte {
	var out bytes.Buffer
	list := func(what string, all []string) {
		for _, text := range all {
			fmt.Fprintf(&out, "# %s: %s\n", what, text)
		}
	}
	list("left out", c.LeftOut)
	list("refused", c.Refused)
	list("missing", c.Missing)
	if c.Application != nil {
		fmt.Fprintf(&out, "--- # %s, %s, %s\n%s", c.Application.AppType, c.Application.Name, c.Application.Inline[0].Path, c.Application.Inline[0].Content)
	}
	if c.Config != nil {
		text, _ := json.MarshalIndent(c.Config, "", "  ")
		fmt.Fprintf(&out, "--- # config\n%s\n", text)
	}
	return out.Bytes()
}

// What is sent for a pod that runs must not change with a version of ours: the agent would restart every container.
func TestPodsAreConvertedAsTheyWere(t *testing.T) {
	for _, name := range []string{"plain", "full", "refused"} {
		from := sources()
		if name == "refused" {
			from.DeliversSecrets = false
		}
		got, file := written(Build(podOf(t, name), cluster, from)), filepath.Join("testdata", name+".golden")
		if *rewrite {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || !bytes.Equal(want, got) {
			t.Errorf("%s differs (%v):\n%s", file, err, got)
		}
	}
}

// The table as people read it, with every field that Kubernetes has: a new one fails here until a row decides about it.
func TestEveryFieldIsDecided(t *testing.T) {
	var out bytes.Buffer
	for _, f := range Fields() {
		fmt.Fprintf(&out, "%-9s %s\n", strings.Join(f.Columns, " "), f.Path)
		if len(f.Columns) == 0 {
			t.Errorf("no row decides about %s: add one", f.Path)
		}
	}
	const file = "testdata/fields.golden"
	if *rewrite {
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || !bytes.Equal(want, out.Bytes()) {
		t.Errorf("%s differs (%v): has Kubernetes a new field?\n%s", file, err, out.String())
	}
}

// Nothing that is refused for its kind is sent in part.
func TestNothingIsSentOfARefusedPod(t *testing.T) {
	c := Build(podOf(t, "refused"), cluster, Sources{})
	if c.Application != nil || c.Config != nil || len(c.Refused) < 15 {
		t.Errorf("%+v", c)
	}
}

// What is missing is told, all of it, and in which namespace.
func TestAPodWaitsForWhatIsMissing(t *testing.T) {
	pod := podOf(t, "full")
	from := sources()
	delete(from.ConfigMaps, "plant")
	delete(from.ConfigMaps["settings"].Data, "two")
	delete(from.Secrets, "login")
	c := Build(pod, cluster, from)
	want := []string{
		"ConfigMap plant/plant does not exist: create it.",
		"Secret plant/login does not exist: create it.",
		"ConfigMap plant/settings has no key two: add it.",
	}
	if !slices.Equal(c.Missing, want) || c.Application != nil {
		t.Errorf("%q", c.Missing)
	}
	from.Secrets["login"] = &corev1.Secret{}
	if c = Build(pod, cluster, from); c.Missing[1] != "Secret plant/login has no key password: add it." {
		t.Errorf("%q", c.Missing)
	}
	configMaps, secrets := Needs(pod)
	if !slices.Equal(configMaps, []string{"absent", "plant", "settings"}) || !slices.Equal(secrets, []string{"absent", "login"}) {
		t.Errorf("needs %v, %v", configMaps, secrets)
	}
}

// A value of a Secret is sent only if the pool and the namespace allow it, and never told.
func TestSecretsAreNotSentUnasked(t *testing.T) {
	pod, from := podOf(t, "full"), sources()
	from.DeliversSecrets = false
	c := Build(pod, cluster, from)
	if c.Application != nil || strings.Contains(string(written(c)), "canary") {
		t.Errorf("%+v", c)
	}
	from.DeliversSecrets = true
	c = Build(pod, cluster, from)
	if !strings.Contains(c.Application.Inline[0].Content, "canary") {
		t.Error("what is delivered is not")
	}
	if told := strings.Join(slices.Concat(c.LeftOut, c.Refused, c.Missing), " "); strings.Contains(told, "canary") {
		t.Errorf("told: %s", told)
	}
}

// What is built is not the user's object: caches share that.
func TestBuildingWritesToNothing(t *testing.T) {
	pod := podOf(t, "full")
	before := pod.DeepCopy().String()
	c := Build(pod, cluster, sources())
	c.Config.Inline[0].Content = "x"
	if pod.String() != before {
		t.Error("the pod was written to")
	}
}

func TestTheImageThatWasSent(t *testing.T) {
	raw, err := json.Marshal(Build(podOf(t, "full"), cluster, sources()).Application)
	if err != nil {
		t.Fatal(err)
	}
	if image, is := ImageOf(raw); !is || image != podOf(t, "full").Spec.Containers[0].Image {
		t.Errorf("%q, %t", image, is)
	}
	for _, other := range []string{``, `[]`, `{}`, `{"inline":[{"path":"podman-compose.yaml"}]}`, `{"inline":[{"path":"x","content":"services: {a: {image: b}}"}]}`,
		`{"inline":[{"path":"podman-compose.yaml","content":"services: {a: {image: b}, c: {image: d}}"}]}`, `{"inline":[{"path":"podman-compose.yaml","content":"\t"}]}`} {
		if image, is := ImageOf(json.RawMessage(other)); is || image != "" {
			t.Errorf("%s: %q", other, image)
		}
	}
}
