package remediation

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/spec"
)

// TestCachesShowWhatIsOurs: the Job of an execution and its pod have the label by which caches select; Jobs and pods of
// others are not held, and neither is any target.
func TestCachesShowWhatIsOurs(t *testing.T) {
	c, err := wiring().Caches()
	if err != nil {
		t.Fatal(err)
	}
	x := &remediationv1.KubernetesExecution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "more", UID: "x1"}}
	x.Spec.Parameters = map[string]apiextensionsv1.JSON{"replicas": {Raw: []byte("3")}}
	x.Status.Plan = &remediationv1.Plan{Target: remediationv1.PlannedTarget{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "t1"}}
	job, err := spec.Job(x, &remediationv1.ActionDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "scale-deployment"},
		Spec: remediationv1.ActionDefinitionSpec{
			Builtin: "scale_deployment", TargetKinds: []remediationv1.TargetKind{{Group: "apps", Version: "v1", Kind: "Deployment", Resource: "deployments"}},
			Parameters: []remediationv1.Parameter{{Name: "replicas", Type: remediationv1.TypeInteger}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !c.Shows(job) || !c.Shows(&corev1.Pod{ObjectMeta: job.Spec.Template.ObjectMeta}) {
		t.Error("the Job of an execution, or its pod, is not cached")
	}
	for _, other := range []client.Object{&batchv1.Job{}, &corev1.Pod{}} {
		if c.Shows(other) {
			t.Errorf("every %T of the cluster is cached", other)
		}
	}
	for _, live := range []client.Object{&appsv1.Deployment{}, &corev1.Secret{}, &corev1.ConfigMap{}, &corev1.ServiceAccount{}, &rbacv1.RoleBinding{}} {
		if c.Check(live) == nil {
			t.Errorf("%T is cached; it is to be read live", live)
		}
	}
}
