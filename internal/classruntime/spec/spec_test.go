package spec

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

func class(functions ...runtimev1.Function) *runtimev1.ClassRuntime {
	return &runtimev1.ClassRuntime{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart", UID: "c1"},
		Spec:       runtimev1.ClassRuntimeSpec{Functions: functions},
	}
}

func short() runtimev1.Function {
	return runtimev1.Function{
		Key: "add", Image: "cart-add:1", Args: []string{"--fast"}, Replicas: ptr.To(int32(2)),
		Env:   []corev1.EnvVar{{Name: "MODE", Value: "shop"}},
		Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
		Resources: &corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
		},
		ReadinessProbe: &corev1.Probe{PeriodSeconds: 1},
	}
}

func long() runtimev1.Function {
	f := short()
	f.Key, f.Image, f.Replicas = "total", "", nil
	f.Ports = append(f.Ports, corev1.ContainerPort{ContainerPort: 9090, Name: "metrics"})
	f.PodTemplate = &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{
			Name: "ignored", Labels: map[string]string{"team": "shop", runtimev1.ClassLabel: "stolen"}, Annotations: map[string]string{"note": "kept"},
		},
		Spec: corev1.PodSpec{
			ServiceAccountName: "cart",
			Containers: []corev1.Container{
				{Name: "proxy", Image: "proxy:1"},
				{Name: "function", Image: "cart-total:1", Env: []corev1.EnvVar{{Name: "LOG", Value: "debug"}, {Name: "MODE", Value: "none"}}, Args: []string{"--slow"}},
			},
		},
	}
	return f
}

// The pods of every class are replaced if what is built changes with a version of the manager, so golden files only change
// with a decision to do that.
func TestChildrenAreAsTheyWere(t *testing.T) {
	for name, c := range map[string]*runtimev1.ClassRuntime{
		"short": class(short()), "long": class(long()),
		"dev": func() *runtimev1.ClassRuntime {
			c := class(scaled())
			c.Spec.Template = runtimev1.TemplateDev
			return c
		}(),
		"scaled": class(scaled()),
	} {
		var text bytes.Buffer
		for _, f := range Functions(c) {
			for _, obj := range f.Children() {
				applied, err := child.Applied(obj)
				if err != nil {
					t.Fatal(err)
				}
				one, err := yaml.Marshal(applied.Object)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&text, "--- # %s\n%s", KindOf(obj), one)
			}
		}
		file := filepath.Join("testdata", name+".yaml")
		if *rewrite {
			if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || !bytes.Equal(want, text.Bytes()) {
			t.Errorf("%s differs (%v):\n%s", file, err, text.String())
		}
	}
}

// A switch between templates replaces no pod.
func TestTemplatesHaveTheSamePods(t *testing.T) {
	var pods []string
	for _, template := range templates {
		c := class(short())
		c.Spec.Template = template.Name
		d := Functions(c)[0].Deployment
		pods = append(pods, child.Hash(d.Spec.Template))
		if d.Annotations[runtimev1.TemplateAnnotation] != string(template.Name) {
			t.Errorf("%s is not on record", template.Name)
		}
	}
	if len(slices.Compact(pods)) != 1 {
		t.Errorf("pods differ: %v", pods)
	}
}

func TestWhatCannotBeBuilt(t *testing.T) {
	nameless, imageless := long(), long()
	nameless.PodTemplate.Spec.Containers[1].Name = "main"
	imageless.PodTemplate.Spec.Containers[1].Image = ""
	for words, f := range map[string]runtimev1.Function{"has no container named function": nameless, "has no image": imageless} {
		all := Functions(class(f, short()))
		if !strings.Contains(all[1].Invalid, words) || len(all[1].Children()) > 0 {
			t.Errorf("%+v", all[1])
		}
		if all[0].Invalid != "" || len(all[0].Children()) != 3 {
			t.Error("a function that cannot be built keeps another from being built")
		}
	}
}

// What is built is not the user's object: caches share that.
func TestBuildingWritesToNothing(t *testing.T) {
	c := class(short(), long())
	c.Spec.Functions[0].Ports[0].Protocol = corev1.ProtocolTCP
	before := child.Hash(c)
	for _, f := range Functions(c) {
		f.Deployment.Labels["x"], f.Deployment.Spec.Template.Labels["x"] = "y", "y"
		f.Deployment.Spec.Template.Spec.Containers[0].Image = "other"
		f.Deployment.Spec.Template.Spec.Containers[0].Env = nil
	}
	if child.Hash(c) != before {
		t.Error("the class was written to")
	}
}

func TestOrderMeansNothing(t *testing.T) {
	there, back := Functions(class(short(), long())), Functions(class(long(), short()))
	for i := range there {
		if child.Hash(there[i].Deployment) != child.Hash(back[i].Deployment) || there[i].Key != back[i].Key {
			t.Errorf("%s depends on the order", there[i].Key)
		}
	}
}

// Nothing has a finalizer: garbage collection follows owners.
func TestChildrenAreOwned(t *testing.T) {
	for _, f := range Functions(class(short(), long())) {
		for _, obj := range f.Children() {
			if !child.OwnedBy(obj, "c1") || len(obj.GetFinalizers()) > 0 || obj.GetLabels()[runtimev1.ClassLabel] != "cart" || Stamp.Of(obj) == "" {
				t.Errorf("%s %s: %+v", KindOf(obj), obj.GetName(), obj)
			}
		}
	}
}
