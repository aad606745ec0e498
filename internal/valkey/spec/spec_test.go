package spec

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

var builder = Builder{NodeImage: "statecraft/valkey-node:v1"}

func newCluster() *valkeyv1.ValkeyCluster {
	return &valkeyv1.ValkeyCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop", UID: "c1"},
		Spec:       valkeyv1.ValkeyClusterSpec{Masters: 3, Image: "valkey/valkey:8.1", NodeTimeoutSeconds: 5},
	}
}

// TestGolden compares the objects of clusters with those that were reviewed.
func TestGolden(t *testing.T) {
	tuned := newCluster()
	tuned.Spec.NodeTimeoutSeconds = 15
	tuned.Spec.Config = map[string]valkeyv1.ConfigValue{"maxmemory-policy": "allkeys-lru", "hz": "20"}
	tuned.Spec.Resources = valkeyv1.Resources{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("256Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
	}
	tuned.Spec.Persistence = valkeyv1.Persistence{Enabled: true, Size: ptr.To(resource.MustParse("2Gi")), StorageClassName: ptr.To("fast"), RDB: true}
	tuned.Spec.Replication = valkeyv1.Replication{MinReplicasToWrite: 1, MaxLagSeconds: 10}
	tuned.Spec.Scheduling = valkeyv1.Scheduling{NodeSelector: map[string]string{"disk": "ssd"}, PriorityClassName: "data"}
	tuned.Spec.Pods = valkeyv1.Pods{
		Labels: map[string]string{"team": "shop"}, Annotations: map[string]string{"example.com/cost": "7"},
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}}, ServiceAccountName: "web",
	}
	tuned.Spec.PodDisruptionBudget.MaxUnavailable = ptr.To(intstr.FromInt32(2))
	tuned.Spec.TLS, tuned.Spec.Auth = &valkeyv1.TLS{SecretName: "web-tls"}, &valkeyv1.Auth{SecretName: "web-app"}
	for file, children := range map[string][]Object{
		"three_by_one.yaml": builder.Children(newCluster(), 3),
		"tuned.yaml":        {ConfigMap(tuned), DisruptionBudget(tuned), builder.StatefulSet(tuned, 0)},
	} {
		t.Run(file, func(t *testing.T) {
			var b bytes.Buffer
			for _, child := range children {
				text, err := yaml.Marshal(child)
				if err != nil {
					t.Fatal(err)
				}
				b.WriteString("---\n# " + KindOf(child) + "\n")
				b.Write(text)
			}
			path := filepath.Join("testdata", file)
			if *rewrite {
				if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("run go test -rewrite and read the diff:\n%s", diff)
			}
		})
	}
}

// The longest name must fit into everything that is made of it: the revision label
// of a pod is the name of its StatefulSet and a hash of ten characters.
func TestLongestName(t *testing.T) {
	c := newCluster()
	c.Name = strings.Repeat("a", 48)
	revision := ShardName(c, 249) + "-" + strings.Repeat("f", 10)
	if errs := validation.IsValidLabelValue(revision); len(errs) > 0 {
		t.Errorf("%s: %v", revision, errs)
	}
	for _, name := range []string{NodesName(c), EndpointName(c), PodName(c, 249, 5)} {
		if errs := validation.IsDNS1035Label(name); len(errs) > 0 {
			t.Errorf("%s: %v", name, errs)
		}
	}
}

// A child bears what it was built as: nothing else, and every change of it.
func TestStamp(t *testing.T) {
	stamps := func(c *valkeyv1.ValkeyCluster) map[string]string {
		out := map[string]string{}
		for _, child := range builder.Children(c, 3) {
			out[KindOf(child)+" "+child.GetName()] = child.GetAnnotations()[AppliedAnnotation]
		}
		return out
	}
	was := stamps(newCluster())
	if diff := cmp.Diff(was, stamps(newCluster())); diff != "" {
		t.Errorf("built twice: %s", diff)
	}
	released := Builder{NodeImage: "statecraft/valkey-node:v2"}.Children(newCluster(), 3)
	for _, child := range released {
		if now := child.GetAnnotations()[AppliedAnnotation]; now != was[KindOf(child)+" "+child.GetName()] {
			t.Errorf("%s: changed by another release of the node program", child.GetName())
		}
	}
	other := newCluster()
	other.Spec.Image, other.Status.Version, other.ResourceVersion = "valkey/valkey:9.1", "8.1.1", "7"
	for child, now := range stamps(other) {
		if changed := now != was[child]; changed != strings.HasPrefix(child, "StatefulSet") {
			t.Errorf("%s: changed %t by another image", child, changed)
		}
	}
}
