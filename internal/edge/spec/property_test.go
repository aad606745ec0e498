package spec

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

// words are what random pods are made of: some mean something in some field.
var words = []string{
	"a", "on", "a.example/b:1", "$(A)", "x:y", "../up", "Always", "IfNotPresent", "Memory", "settings", "plant", "login", "one", "zone", "password",
	"metadata.name", "status.podIP", "RuntimeDefault", "ClusterFirst", "linux", "None", "", "kube-api-access-x", "token", "\x00", "é$ \"'\n",
}

// fill sets some of what is below v.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	if r.IntN(3) == 0 {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem(), depth)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[resource.Quantity]() {
			v.Set(reflect.ValueOf(*resource.NewMilliQuantity(int64(r.IntN(5000)), resource.DecimalSI)))
			return
		}
		few := max(1, v.NumField()/8) // of a wide struct few fields, or all pods were refused for something
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && (depth > 1 && v.NumField() < 6 || r.IntN(few) == 0) {
				fill(r, v.Field(i), depth+1)
			}
		}
	case reflect.Slice:
		list := reflect.MakeSlice(v.Type(), r.IntN(3), 3)
		for i := range list.Len() {
			fill(r, list.Index(i), depth)
		}
		v.Set(list)
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		for range r.IntN(3) {
			value := reflect.New(v.Type().Elem()).Elem()
			fill(r, value, depth)
			m.SetMapIndex(reflect.ValueOf([]string{"cpu", "memory", "a"}[r.IntN(3)]).Convert(v.Type().Key()), value)
		}
		v.Set(m)
	case reflect.String:
		v.SetString(words[r.IntN(len(words))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.IntN(3)))
	}
}

// Whatever a pod has: it is converted, or what stands in the way is told; nothing that is refused is sent; and nothing
// that is set is of no row.
func TestNothingIsIgnored(t *testing.T) {
	table, refusals, sent, plain := Table(), 0, 0, podOf(t, "plain")
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 1))
		pod := plain.DeepCopy()
		fill(r, reflect.ValueOf(&pod.Spec).Elem(), 0)
		if len(pod.Spec.Containers) == 0 {
			pod.Spec.Containers = plain.DeepCopy().Spec.Containers
		}
		if r.IntN(2) == 0 { // one that may be sent
			pod.Spec.Containers = pod.Spec.Containers[:1]
			pod.Spec.Containers[0].Name, pod.Spec.Containers[0].Image, pod.Spec.Containers[0].ImagePullPolicy = "a", "a.example/b:1", corev1.PullIfNotPresent
		}
		from := sources()
		from.DeliversSecrets = r.IntN(2) == 0
		out, refuses := Build(pod, cluster, from), false
		for _, l := range leavesOf(&pod.Spec) {
			row := rowOf(table, subject{pod, from}, l)
			refuses = refuses || row.Column == Refused
			if row.Field == "" && !l.empty {
				t.Fatalf("seed %d: no row is about %s", seed, l.path())
			}
		}
		switch {
		case refuses && (len(out.Refused) == 0 || out.Application != nil || out.Config != nil):
			t.Fatalf("seed %d: what is refused is sent: %q", seed, out.Refused)
		case out.Application == nil && len(out.Refused)+len(out.Missing) == 0:
			t.Fatalf("seed %d: it is not sent, and does not say why", seed)
		case out.Application == nil:
			refusals++
		default:
			sent++
			legible(t, out.Application.Inline[0].Content)
		}
	}
	if refusals < 50 || sent < 50 {
		t.Errorf("%d are refused, %d are sent: too few of one", refusals, sent)
	}
}

// composeFile is a compose file as tools read it.
type composeFile struct {
	Services map[string]struct {
		Image       string            `json:"image"      yaml:"image"`
		Entrypoint  []string          `json:"entrypoint" yaml:"entrypoint"`
		Command     []string          `json:"command"    yaml:"command"`
		Environment map[string]string `json:"environment" yaml:"environment"`
		Volumes     []string          `json:"volumes"    yaml:"volumes"`
	} `json:"services" yaml:"services"`
}

// legible reads a compose file as Flight Control does, which knows volumes as texts only, and by another library.
func legible(t interface{ Fatalf(string, ...any) }, text string) composeFile {
	var theirs, other composeFile
	if err := yaml.Unmarshal([]byte(text), &theirs); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	if err := yamlv3.Unmarshal([]byte(text), &other); err != nil || !reflect.DeepEqual(theirs, other) {
		t.Fatalf("two libraries read it differently (%v):\n%s", err, text)
	}
	if strings.Contains(strings.ReplaceAll(text, "$$", ""), "$") {
		t.Fatalf("a dollar is left to be a variable of the device:\n%s", text)
	}
	return theirs
}

// Texts arrive as they are, whatever is in them: dollars, quotes, other YAML, lines, control characters.
func TestTextsArrive(t *testing.T) {
	texts := rapid.Custom(func(t *rapid.T) string {
		return strings.ReplaceAll(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"no", "1:30", "0o17", "~", "", " ", "${A:-b}", "$$", "a: b", "- a", "\t", "\x7f\u0085\u2028\ufeff\U0001f600", "#", "'", "\"", "\\n", "|\n a\n", "!!int 1",
		})).Draw(t, "text"), "\x00", "")
	})
	rapid.Check(t, func(t *rapid.T) {
		env, arg := texts.Draw(t, "env"), texts.Draw(t, "arg")
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "a", Image: "a.example/b:1", Args: []string{strings.ReplaceAll(arg, "$", "$$")}, Env: []corev1.EnvVar{{Name: "E", Value: strings.ReplaceAll(env, "$", "$$")}},
		}}}}
		out := Build(pod, cluster, Sources{})
		if out.Application == nil {
			t.Fatalf("%q", out.Refused)
		}
		raw, err := json.Marshal(out.Application)
		if err != nil {
			t.Fatal(err)
		}
		var back Application
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		service := legible(t, back.Inline[0].Content).Services["a"]
		if got := strings.ReplaceAll(service.Environment["E"], "$$", "$"); got != env {
			t.Errorf("%q arrives as %q", env, got)
		}
		if got := strings.ReplaceAll(service.Command[0], "$$", "$"); got != arg {
			t.Errorf("%q arrives as %q", arg, got)
		}
	})
}

// As kubelets do.
func TestVariablesAreExpanded(t *testing.T) {
	variables := map[string]string{"A": "1", "B": "$(A)", "E": ""}
	for text, want := range map[string]string{
		"": "", "$": "$", "a$": "a$", "$A": "$A", "$(A)": "1", "$(A)$(A)": "11", "$$(A)": "$(A)", "$$$(A)": "$1", "$$$$(A)": "$$(A)", "$(B)": "$(A)", "[$(E)]": "[]",
		"$(C)": "$(C)", "$(A": "$(A", "$()": "$()", "$($(A)": "$($(A)", "$(A))": "1)", "${A}": "${A}", "$é$(A)": "$é1", "100%$": "100%$",
	} {
		if got := expand(text, variables); got != want {
			t.Errorf("%q becomes %q, not %q", text, got, want)
		}
	}
}

func TestImagesWithARegistry(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0a", 32)
	for image, ok := range map[string]bool{
		"docker.io/library/nginx:1": true, "localhost/app:v1": true, "localhost:5000/a/b": true, "imagehub.example.com/a/b-c_d.e" + digest: true, "10.0.0.1:5000/a:b" + digest: true,
		"host:5000/a": true, "nginx": false, "nginx:1": false, "library/nginx": false, "plant/meter:1": false, "docker.io": false, "docker.io/": false, "docker.io/A": false,
		"docker.io/a:": false, "docker.io/a b": false, "": false, "docker.io/a@sha256:0": false, "-a.example/b": false, "docker.io//a": false,
	} {
		if reference.MatchString(image) != ok {
			t.Errorf("%q: %t", image, !ok)
		}
	}
}

// A pod that looks like one with a token, and asks for more, is not sent in part.
func TestOnlyTheTokenOfTheAPIServerIsLeftOut(t *testing.T) {
	for what, change := range map[string]func(*corev1.Volume){
		"a Secret among its sources": func(v *corev1.Volume) {
			v.Projected.Sources = append(v.Projected.Sources, corev1.VolumeProjection{Secret: &corev1.SecretProjection{}})
		},
		"another audience":  func(v *corev1.Volume) { v.Projected.Sources[0].ServiceAccountToken.Audience = "vault" },
		"another ConfigMap": func(v *corev1.Volume) { v.Projected.Sources[1].ConfigMap.Name = "mine" },
		"another field":     func(v *corev1.Volume) { v.Projected.Sources[2].DownwardAPI.Items[0].Path = "labels" },
		"another name":      func(v *corev1.Volume) { v.Name = "token" },
		"no source":         func(v *corev1.Volume) { v.Projected.Sources = nil },
	} {
		pod := podOf(t, "plain")
		if change(&pod.Spec.Volumes[0]); isTokenVolume(pod.Spec.Volumes[0]) {
			t.Errorf("%s: it is left out", what)
		}
		if out := Build(pod, cluster, Sources{}); out.Application != nil {
			t.Errorf("%s: it is sent", what)
		}
	}
}

func FuzzImageOf(f *testing.F) {
	f.Add(`{"inline":[{"path":"podman-compose.yaml","content":"services: {a: {image: b}}"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		if image, is := ImageOf(json.RawMessage(text)); is != (image != "") {
			t.Errorf("%q, %t", image, is)
		}
	})
}
