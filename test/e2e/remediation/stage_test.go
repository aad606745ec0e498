// Package remediation tests area remediation on real nodes, with the manager in pods and users without
// administrator rights.
package remediation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	area     = "remediation"
	rolledIn = "120s"
	poll     = 250 * time.Millisecond

	requester = "dora" // may edit the namespace
	approver  = "olga" // may approve in it, and nothing else
)

// stage is a namespace in which actions are enabled, with a Deployment and two users.
type stage struct {
	*testing.T
	bed       *bed.Bed
	namespace string
	admin     client.Client
	dora      client.Client
	olga      client.Client
}

func newStage(t *testing.T) *stage {
	t.Helper()
	b := bedtest.Nodes(t, harness.ByLevel(1, 3)) // a bed has as many as the first test asks for
	harness.Install(t, b, area)
	loadAction(t, b)
	product.Deploy(t, b, area, rolledIn)
	return stageOn(t, b)
}

// stageOn makes a stage on a bed on which the area is installed.
func stageOn(t *testing.T, b *bed.Bed) *stage {
	t.Helper()
	admin := harness.Client(t, b, remediationv1.AddToScheme)
	s := &stage{T: t, bed: b, namespace: bedtest.Namespace(t, b), admin: admin}
	s.dora, s.olga = harness.ClientAs(t, b, admin, requester), harness.ClientAs(t, b, admin, approver)
	s.enable()
	s.bind("edit", requester)
	s.bind("statecraft-remediation-approver", approver)
	s.deploy("web", 2)
	return s
}

// loadAction brings the image that performs actions, under the name that the chart gives to what was not packed.
func loadAction(t *testing.T, b *bed.Bed) {
	t.Helper()
	archive, err := bed.ProgramImage(t.Context(), product.Registry+"/action:0.0.0-dev", "github.com/statecraft-dev/statecraft/cmd/statecraft-action")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.LoadImage(t.Context(), archive); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) enable() {
	s.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{%q:"true"}}}`, remediationv1.EnabledLabel))
	if err := s.admin.Patch(s.Context(), ns, patch); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) bind(role, user string) {
	s.Helper()
	s.create(s.admin, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, GenerateName: "bind-"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
}

func (s *stage) create(as client.Client, obj client.Object) {
	s.Helper()
	obj.SetNamespace(s.namespace)
	if err := as.Create(s.Context(), obj); err != nil {
		s.Fatal(err)
	}
}

// deploy makes a Deployment whose pods do nothing.
func (s *stage) deploy(name string, replicas int32) {
	s.Helper()
	labels := map[string]string{"app": name}
	s.create(s.dora, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				TerminationGracePeriodSeconds: ptr.To[int64](1),
				Containers:                    []corev1.Container{{Name: "main", Image: images.Pause, ImagePullPolicy: corev1.PullNever}},
			}},
		},
	})
}

// scale is an execution that scales a Deployment.
func scale(name, deployment string, replicas int) *remediationv1.KubernetesExecution {
	return &remediationv1.KubernetesExecution{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: remediationv1.KubernetesExecutionSpec{
			Action: "scale_deployment", Target: remediationv1.TargetRef{Kind: "Deployment", Name: deployment},
			Parameters: map[string]apiextensionsv1.JSON{"replicas": {Raw: fmt.Appendf(nil, "%d", replicas)}},
		},
	}
}

func (s *stage) get(name string) *remediationv1.KubernetesExecution {
	s.Helper()
	var x remediationv1.KubernetesExecution
	if err := s.admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, &x); err != nil {
		s.Fatal(err)
	}
	return &x
}

// until waits for a phase, and fails at once in an end that is another.
func (s *stage) until(name, phase string) *remediationv1.KubernetesExecution {
	s.Helper()
	var x *remediationv1.KubernetesExecution
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		x = s.get(name)
		if is := string(x.Status.Phase); is != phase {
			return fmt.Errorf("%s is %s (%s): %s %s", name, is, x.Status.Reason, x.Status.WaitingFor, message(x))
		}
		return nil
	})
	return x
}

func message(x *remediationv1.KubernetesExecution) string {
	if ready := apimeta.FindStatusCondition(x.Status.Conditions, "Ready"); ready != nil {
		return ready.Message
	}
	return ""
}

// approve approves the plan that waits.
func approve(x *remediationv1.KubernetesExecution, name string) *remediationv1.ExecutionApproval {
	return &remediationv1.ExecutionApproval{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: remediationv1.ExecutionApprovalSpec{
			ExecutionRef: remediationv1.ExecutionRef{Name: x.Name, UID: x.UID}, PlanDigest: x.Status.Plan.Digest,
			Decision: remediationv1.Approved, Reason: "more people are coming",
		},
	}
}

func (s *stage) replicas(name string) int32 {
	s.Helper()
	var d appsv1.Deployment
	if err := s.admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, &d); err != nil {
		s.Fatal(err)
	}
	return *d.Spec.Replicas
}

// refused is an error that has these words.
func (s *stage) refused(err error, words string) {
	s.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		s.Errorf("error %v, want one that says %q", err, words)
	}
}
