package valkey

import (
	"reflect"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// familyOf is a cluster with everything that can be configured, spelled otherwise than the API
// server does, and every object that it owns.
func familyOf(t *testing.T, c client.Client, namespace string) []client.Object {
	t.Helper()
	cluster := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
	s := &cluster.Spec
	s.ReplicasPerMaster = ptr.To(int32(2))
	s.Persistence = valkeyv1.Persistence{Enabled: true, RDB: true, Size: ptr.To(resource.MustParse("2048Mi"))}
	s.Replication = valkeyv1.Replication{MinReplicasToWrite: 1, MaxLagSeconds: 10}
	s.Resources = valkeyv1.Resources{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1000m"), corev1.ResourceMemory: resource.MustParse("1024Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1.5"), corev1.ResourceMemory: resource.MustParse("1Gi")},
	}
	s.Scheduling = valkeyv1.Scheduling{
		NodeSelector: map[string]string{"disk": "ssd"},
		Tolerations:  []corev1.Toleration{{Key: "dedicated", Value: "db"}},
		Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{
			{Weight: 1, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{}}}}}},
		TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{MaxSkew: 2, TopologyKey: "rack", WhenUnsatisfiable: corev1.ScheduleAnyway}},
	}
	s.Config = map[string]valkeyv1.ConfigValue{"maxmemory-policy": "allkeys-lru"}
	s.PodDisruptionBudget.MaxUnavailable = ptr.To(intstr.FromString("25%"))
	s.TLS, s.Auth = &valkeyv1.TLS{SecretName: "tls"}, &valkeyv1.Auth{SecretName: "app"}
	if err := c.Create(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	all := []client.Object{
		spec.AccessSecret(cluster, access.Secrets{Operator: []access.Password{access.NewPassword("a")}}, "1"), spec.CertificatesSecret(cluster, access.Material{Certificate: "c", Key: access.NewPassword("k")}, "before"),
		&valkeyv1.ValkeyUpgrade{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-1", Labels: spec.Labels(cluster), OwnerReferences: spec.Owner(cluster)},
			Spec:       valkeyv1.ValkeyUpgradeSpec{ClusterRef: valkeyv1.ClusterRef{Name: cluster.Name}, Image: "valkey/valkey:9.0"},
		},
	}
	for _, made := range (spec.Builder{NodeImage: "statecraft/valkey-node:v1"}).Children(cluster, 1) {
		all = append(all, made)
	}
	return all
}

// byHand edits one field of ours in each kind of child, as a person would.
func byHand(obj client.Object) (field string) {
	switch o := obj.(type) {
	case *corev1.Service:
		o.Spec.Ports[0].TargetPort = intstr.FromInt32(1)
		return `.spec.ports[port=6379,protocol="TCP"].targetPort`
	case *corev1.ConfigMap:
		o.Data[spec.LiveFile] = "hz 1\n"
		return ".data.live.conf"
	case *corev1.Secret:
		o.Type, o.Data = corev1.SecretTypeOpaque, nil
		return ".data."
	case *policyv1.PodDisruptionBudget:
		o.Spec.MaxUnavailable = ptr.To(intstr.FromInt32(3))
		return ".spec.maxUnavailable"
	case *appsv1.StatefulSet:
		o.Spec.UpdateStrategy.Type = appsv1.RollingUpdateStatefulSetStrategyType
		return ".spec.updateStrategy.type"
	}
	obj.SetLabels(nil)
	return ".metadata.labels." + valkeyv1.ClusterLabel
}

// TestChildrenAreAsApplied: of every object that a cluster owns, as the API server keeps it,
// no field differs, unless somebody edits one of ours; what others add does not count.
func TestChildrenAreAsApplied(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, "valkey")
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	writer := kube.Env{Client: c, Live: c}.Writer("valkeycluster")
	for _, want := range familyOf(t, c, namespace) {
		t.Run(reflect.TypeOf(want).Elem().Name()+" "+want.GetName(), func(t *testing.T) {
			if err := writer.Apply(t.Context(), want, ""); err != nil {
				t.Fatal(err)
			}
			live := reflect.New(reflect.TypeOf(want).Elem()).Interface().(client.Object)
			look := func(what string, field string) []child.Field {
				t.Helper()
				if err := c.Get(t.Context(), client.ObjectKeyFromObject(want), live); err != nil {
					t.Fatal(err)
				}
				fields, err := child.Differs(want, live)
				if err != nil || len(fields) > 0 != (field != "") {
					t.Errorf("%s: differs in %q, want %q: %v", what, child.Names(fields), field, err)
				}
				return fields
			}
			look("as applied", "")
			update(t, c, live, "somebody", func() { live.SetAnnotations(with(live.GetAnnotations(), "theirs")) })
			look("with an annotation of others", "")
			edited := ""
			update(t, c, live, "kubectl-edit", func() { edited = byHand(live) })
			fields := look("edited", edited)
			if !slices.ContainsFunc(fields, func(f child.Field) bool { return f.String() == edited || edited == ".data." }) {
				t.Errorf("differs in %q, want %q", child.Names(fields), edited)
			}
			edits, err := child.Edits(fields, live, child.Manager("valkeycluster"))
			if is := (child.State{Edits: edits}); err != nil || len(edits) != len(fields) || is.Edited() == "" {
				t.Errorf("%v of %q: %v", is, child.Names(fields), err)
			}
		})
	}
}

func with(annotations map[string]string, key string) map[string]string {
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = "x"
	return annotations
}

// update edits what is there now, which controllers of Kubernetes may write to as well.
func update(t *testing.T, c client.Client, obj client.Object, manager string, edit func()) {
	t.Helper()
	if err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
			return err
		}
		edit()
		return c.Update(t.Context(), obj, client.FieldOwner(manager))
	}); err != nil {
		t.Fatal(err)
	}
}
