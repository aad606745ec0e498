package act

import (
	"context"
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
)

// record is an API server with one shard that runs 8.1, an upgrade to 9.1, and the revision
// of 8.0 that the shard had before.
type record struct {
	set     *appsv1.StatefulSet
	upgrade *valkeyv1.ValkeyUpgrade
}

func (r record) Get(_ context.Context, _ read.Key, obj client.Object, _ ...client.GetOption) error {
	switch o := obj.(type) {
	case *appsv1.StatefulSet:
		r.set.DeepCopyInto(o)
	case *valkeyv1.ValkeyUpgrade:
		r.upgrade.DeepCopyInto(o)
	case *appsv1.ControllerRevision:
		before := r.set.DeepCopy()
		before.Spec.Template.Spec.Containers[0].Image = "valkey:8.0"
		text, err := json.Marshal(map[string]any{"spec": map[string]any{"template": before.Spec.Template}})
		o.Data = runtime.RawExtension{Raw: text}
		return err
	}
	return nil
}

func (record) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// Any pod that is lost comes back by the template of its shard: so that is what it was, or
// exactly what an upgrade asked for.
func TestAShardGetsNoOtherTemplate(t *testing.T) {
	var build spec.Builder
	was := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: valkeyv1.ValkeyClusterSpec{Masters: 3, Image: "valkey:8.1"}}
	asked := build.TemplateName(was, spec.Variant{Image: "valkey:9.1"})
	child := cluster.ApplyChild{Child: cluster.Ref{Kind: cluster.KindStatefulSet, Name: "web-0"}, UID: "s1", Replicas: 1}
	edit := func(c *valkeyv1.ValkeyCluster) { c.Spec.Scheduling.PriorityClassName = "data" }
	for name, tc := range map[string]struct {
		change func(*valkeyv1.ValkeyCluster)
		effect func(*cluster.ApplyChild)
		image  string // "" is refused
		class  string // the priority class
	}{
		"only its width changes":                                   {func(*valkeyv1.ValkeyCluster) {}, func(e *cluster.ApplyChild) { e.Keep = true }, "valkey:8.1", ""},
		"only its width changes, and the spec was edited":          {edit, func(e *cluster.ApplyChild) { e.Keep = true }, "valkey:8.1", ""},
		"an upgrade asks":                                          {func(*valkeyv1.ValkeyCluster) {}, func(e *cluster.ApplyChild) { e.Template = asked }, "valkey:9.1", ""},
		"an upgrade asks, and the spec was edited since":           {edit, func(e *cluster.ApplyChild) { e.Template = asked }, "", ""},
		"an upgrade goes back":                                     {func(*valkeyv1.ValkeyCluster) {}, func(e *cluster.ApplyChild) { e.Template = valkeyv1.RevisionPrefix + "web-0-1" }, "valkey:8.0", ""},
		"an upgrade goes back, and the spec was edited":            {edit, func(e *cluster.ApplyChild) { e.Template = valkeyv1.RevisionPrefix + "web-0-1" }, "valkey:8.0", ""},
		"it is wider by now, and nothing proves that a pod may go": {func(*valkeyv1.ValkeyCluster) {}, func(e *cluster.ApplyChild) { e.Keep, e.Replicas = true, 0 }, "", ""},
		"a new shard, and all others run something else":           {edit, func(e *cluster.ApplyChild) { e.UID, e.Image = "", "valkey:8.0" }, "valkey:8.0", "data"},
		"a shard of a cluster that is made by a new edit":          {edit, func(*cluster.ApplyChild) {}, "valkey:8.1", "data"},
		"a shard of a cluster that is made as it was then":         {func(*valkeyv1.ValkeyCluster) {}, func(*cluster.ApplyChild) {}, "valkey:8.1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			set := build.StatefulSet(was, 0)
			set.Spec.Replicas = ptr.To(int32(2))
			up := &valkeyv1.ValkeyUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "to-9", UID: "u1"}, Spec: valkeyv1.ValkeyUpgradeSpec{Image: "valkey:9.1"}}
			c, e := was.DeepCopy(), child
			tc.change(c)
			tc.effect(&e)
			s, err := Cluster{Live: read.Live{Reader: record{set, up}}}.shard(t.Context(), c, e)
			if tc.image == "" {
				if err == nil || fsm.ClassOf(err) != fsm.Changed {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			pod := s.Spec.Template.Spec
			if image := server(pod).Image; image != tc.image || pod.PriorityClassName != tc.class {
				t.Errorf("image %q, priority %q", image, pod.PriorityClassName)
			}
			if goes := e.Template != ""; (s.Annotations[valkeyv1.UpgradeAnnotation] != "") != goes || goes && s.Annotations[valkeyv1.TemplateAnnotation] != e.Template {
				t.Errorf("it bears %v", s.Annotations)
			}
		})
	}
}

func server(p corev1.PodSpec) corev1.Container { return p.Containers[0] }

// A shard that an upgrade has left again bears the stamp that it had: nobody has edited the spec, so nobody has to follow it.
func TestAShardThatWentBackIsNotEdited(t *testing.T) {
	var build spec.Builder
	c := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: valkeyv1.ValkeyClusterSpec{Masters: 3, Image: "valkey:8.1"}}
	up := &valkeyv1.ValkeyUpgrade{ObjectMeta: metav1.ObjectMeta{Name: "to-9", UID: "u1"}, Spec: valkeyv1.ValkeyUpgradeSpec{Image: "valkey:9.1"}}
	e := cluster.ApplyChild{Child: cluster.Ref{Kind: cluster.KindStatefulSet, Name: "web-0"}, UID: "s1", Replicas: 1, Upgrade: "to-9"}
	for name, stamp := range map[string]string{
		"the spec asks for what it had":                 build.StatefulSet(c, 0).Annotations[spec.AppliedAnnotation],
		"the spec asks for something else since before": "an older one",
	} {
		t.Run(name, func(t *testing.T) {
			set := build.StatefulSet(c, 0)
			set.Spec.Replicas, set.Annotations[spec.AppliedAnnotation] = ptr.To(int32(2)), stamp
			set.Annotations[spec.ImageAnnotation] = "image of " + stamp
			for _, template := range []string{build.TemplateName(c, spec.Variant{Image: "valkey:9.1"}), valkeyv1.RevisionPrefix + "web-0-1", valkeyv1.RevisionPrefix + "web-0-1"} {
				e.Template = template
				next, err := Cluster{Live: read.Live{Reader: record{set, up}}}.shard(t.Context(), c, e)
				if err != nil {
					t.Fatal(err)
				}
				next.Spec.Replicas = set.Spec.Replicas
				set = next
			}
			if got, image := set.Annotations[spec.AppliedAnnotation], set.Annotations[spec.ImageAnnotation]; got != stamp || image != "image of "+stamp {
				t.Errorf("it bears %q and %q, and bore %q", got, image, stamp)
			}
		})
	}
}
