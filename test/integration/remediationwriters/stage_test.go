// Package remediationwriters tries area remediation beside others: on a target that they write all the time, after what other
// executions did, and while others attack what waits for its release. The manager runs in the process of the test, with the account and the rights that it has; the test plays the
// node on which the action runs.
package remediationwriters

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/remediation"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy/policyfake"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	area = "remediation"
	poll = 50 * time.Millisecond // between two looks

	requester = "dora" // may edit the namespace
	approver  = "olga" // may approve in it, and nothing else
)

// stage is a namespace in which actions are enabled, with a Deployment, and a manager.
type stage struct {
	*testing.T
	bed               *bed.Bed
	namespace         string
	admin, dora, olga client.Client
}

func newStage(t *testing.T) *stage {
	t.Helper()
	// What writes a Deployment here is the test.
	b := bedtest.ControlPlane(t, bed.Without("deployment-controller", "replicaset-controller"))
	harness.Install(t, b, area)
	admin := harness.Client(t, b, remediationv1.AddToScheme)
	s := &stage{T: t, bed: b, namespace: bedtest.Namespace(t, b), admin: admin}
	s.dora, s.olga = harness.ClientAs(t, b, admin, requester), harness.ClientAs(t, b, admin, approver)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	s.must(admin.Patch(t.Context(), namespace, merge(`{"metadata":{"labels":{%q:"true"}}}`, remediationv1.EnabledLabel)))
	s.bind("edit", rbacv1.UserKind, requester)
	s.bind("statecraft-remediation-approver", rbacv1.UserKind, approver)
	s.must(admin.Create(t.Context(), s.web()))
	return s
}

// bind gives a user or a group a role in the namespace.
func (s *stage) bind(role, kind, name string) {
	s.Helper()
	s.must(s.admin.Create(s.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: kind, Name: name}},
	}))
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func merge(patch string, args ...any) client.Patch {
	return client.RawPatch(types.MergePatchType, fmt.Appendf(nil, patch, args...))
}

// web is the target.
func (s *stage) web() *appsv1.Deployment { return s.deployment("web") }

func (s *stage) deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](2), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}},
			},
		},
	}
}

// approved is the answer of a policy that asks for an approval and a dry run.
var approved = policy.Answer{Allow: true, RequireApproval: true, RequireDryRun: true, Reasons: []string{"people look at what is done here"}}

// manage runs a manager whose policy always answers the same, until it is stopped, or the test ends.
func (s *stage) manage(c remediation.Config, answer policy.Answer) (end func()) {
	s.Helper()
	pack := policyfake.Allowing()
	pack.Set(answer)
	return s.manageBy(c, pack)
}

// manageBy runs a manager that asks a policy.
func (s *stage) manageBy(c remediation.Config, pack *policyfake.Fake) (end func()) {
	s.Helper()
	cfg, _ := harness.ConfigForPod(s.T, s.bed, harness.SystemNamespace, "statecraft-"+area)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- kube.Run(ctx, cfg, kube.Options{
			Areas: []kube.AreaSetup{remediation.Area(c, pack)}, Kinds: remediation.Kinds(),
			Namespace: harness.SystemNamespace, Namespaces: []string{s.namespace, harness.SystemNamespace},
			Election: kube.Election{Off: true}, MetricsAddress: "0", ProbeAddress: "0",
		})
	}()
	end = sync.OnceFunc(func() {
		stop()
		if err := <-ended; err != nil {
			s.Errorf("manager: %v", err)
		}
	})
	s.Cleanup(end)
	return end
}

func (s *stage) execution(name string) *remediationv1.KubernetesExecution {
	s.Helper()
	var x remediationv1.KubernetesExecution
	s.must(s.admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, &x))
	return &x
}

// until waits for a phase.
func (s *stage) until(name, phase string) (x *remediationv1.KubernetesExecution) {
	s.Helper()
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		x = s.execution(name)
		if is := string(x.Status.Phase); is != phase {
			return fmt.Errorf("%s is %s (%s): %s", name, is, x.Status.Reason, x.Status.WaitingFor)
		}
		return nil
	})
	return x
}
