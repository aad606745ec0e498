package remediation

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const (
	nodeName = "worker"
	dayOff   = 23 * time.Hour
)

var intstrOne = intstr.FromInt32(1)

// team is one that knows nothing of actions, in a namespace where they are enabled: it has more policies than others.
func (s *stage) team(t *testing.T, namespace string) actor {
	t.Helper()
	s.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{remediationv1.EnabledLabel: "true"}}})
	s.create(t, roleBinding(namespace, rbacv1.UserKind, "of-"+namespace, "admin"))
	a := s.actor(t, "of-"+namespace, s.bed.ConfigFor("of-"+namespace))
	harness.Eventually(t, soon, poll, func() error {
		return harness.Accepted(t, a, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "probe"}})
	})
	return a
}

// node is one that pods can be bound to, if they tolerate it. It has a kubelet only where a test plays it.
func (s *stage) node(t *testing.T) {
	t.Helper()
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: nodeName}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: "test", Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{
			Allocatable: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("100"), corev1.ResourceCPU: resource.MustParse("4")},
			Capacity:    corev1.ResourceList{corev1.ResourcePods: resource.MustParse("100"), corev1.ResourceCPU: resource.MustParse("4")},
			Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	s.create(t, n)
	t.Cleanup(func() { _ = s.admin.Delete(context.WithoutCancel(t.Context()), n) })
}

func everywhere(spec *corev1.PodSpec) {
	spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
}

// pods are those of a namespace that are there to stay, with a label.
func (s *stage) pods(t *testing.T, namespace, app string, want int) []corev1.Pod {
	t.Helper()
	list := &corev1.PodList{}
	harness.Eventually(t, soon, poll, func() error {
		if err := s.admin.List(t.Context(), list, client.InNamespace(namespace), client.MatchingLabels{"app": app}); err != nil {
			return err
		}
		if len(list.Items) != want {
			return fmt.Errorf("%s has %d pods, want %d", app, len(list.Items), want)
		}
		return nil
	})
	return list.Items
}

// TestNoCollateral lives with all policies in force, as users and controllers do who have nothing to do with actions.
func TestNoCollateral(t *testing.T) {
	s := newStage(t)
	const of = "team"
	team := s.team(t, of)
	s.node(t)
	do := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: of, Name: name} }
	selector := func(app string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	}
	template := func(app string, restart corev1.RestartPolicy) corev1.PodTemplateSpec {
		p := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}}, Spec: podSpec("worker")}
		p.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "image.invalid/none"}}
		p.Spec.Containers = append(p.Spec.Containers, corev1.Container{Name: "sidecar", Image: "image.invalid/none"})
		p.Spec.RestartPolicy = restart
		return p
	}
	daemons := template("daemons", corev1.RestartPolicyAlways)
	everywhere(&daemons.Spec)
	scaled := &appsv1.Deployment{ObjectMeta: meta("deployment"), Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](2), Selector: selector("deployment"),
		Template: template("deployment", corev1.RestartPolicyAlways)}}
	once := &batchv1.Job{ObjectMeta: meta("job"), Spec: batchv1.JobSpec{Suspend: ptr.To(true), Template: template("job", corev1.RestartPolicyNever)}}
	bare := &corev1.Pod{ObjectMeta: meta("bare"), Spec: template("bare", corev1.RestartPolicyNever).Spec}
	secret := &corev1.Secret{ObjectMeta: meta("token"), Type: corev1.SecretTypeServiceAccountToken}
	secret.Annotations = map[string]string{corev1.ServiceAccountNameKey: "worker"}
	for _, obj := range []client.Object{
		&corev1.ServiceAccount{ObjectMeta: meta("worker")}, secret, scaled, once, bare,
		&appsv1.StatefulSet{ObjectMeta: meta("stateful"), Spec: appsv1.StatefulSetSpec{Selector: selector("stateful"), Template: template("stateful", corev1.RestartPolicyAlways)}},
		&appsv1.DaemonSet{ObjectMeta: meta("daemons"), Spec: appsv1.DaemonSetSpec{Selector: selector("daemons"), Template: daemons}},
		&appsv1.ReplicaSet{ObjectMeta: meta("replicas"), Spec: appsv1.ReplicaSetSpec{Selector: selector("replicas"), Template: template("replicas", corev1.RestartPolicyAlways)}},
		&corev1.ReplicationController{ObjectMeta: meta("old"), Spec: corev1.ReplicationControllerSpec{Selector: selector("old").MatchLabels,
			Template: ptr.To(template("old", corev1.RestartPolicyAlways))}},
		roleBinding(of, rbacv1.ServiceAccountKind, "worker", "view"),
		&policyv1.PodDisruptionBudget{ObjectMeta: meta("budget"), Spec: policyv1.PodDisruptionBudgetSpec{Selector: selector("deployment"), MaxUnavailable: ptr.To(intstrOne)}},
	} {
		do(fmt.Sprintf("make %T", obj), team.Create(t.Context(), obj))
	}
	do("release a Job", team.Patch(t.Context(), once, merge(`{"spec":{"suspend":false}}`)))
	for app, want := range map[string]int{"deployment": 2, "stateful": 1, "daemons": 1, "replicas": 1, "old": 1, "job": 1} {
		for _, p := range s.pods(t, of, app, want) {
			do("label a pod of "+app, team.Patch(t.Context(), &p, merge(`{"metadata":{"labels":{"touched":"true"}}}`)))
		}
	}
	t.Run("scale", func(t *testing.T) {
		scale := &autoscalingv1.Scale{}
		do("read the scale", team.SubResource("scale").Get(t.Context(), scaled, scale))
		scale.Spec.Replicas = 3
		do("scale", team.SubResource("scale").Update(t.Context(), scaled, client.WithSubResourceBody(scale)))
		s.pods(t, of, "deployment", 3)
	})
	t.Run("evict", func(t *testing.T) {
		evicted := s.pods(t, of, "stateful", 1)[0]
		do("evict", team.SubResource("eviction").Create(t.Context(), &evicted, &policyv1.Eviction{}))
		harness.Eventually(t, soon, poll, func() error { return harness.Gone(t.Context(), s.admin, &evicted) })
		s.pods(t, of, "stateful", 1)
	})
	t.Run("bind", func(t *testing.T) { // by the scheduler
		harness.Eventually(t, soon, poll, func() error {
			if p := s.pods(t, of, "daemons", 1)[0]; p.Spec.NodeName != nodeName {
				return fmt.Errorf("pod %s is bound to %q", p.Name, p.Spec.NodeName)
			}
			return nil
		})
	})
	t.Run("accounts", func(t *testing.T) {
		_, err := team.core().CoreV1().ServiceAccounts(of).CreateToken(t.Context(), "worker", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		do("ask for a token", err)
		worker := team.as("system:serviceaccount:" + of + ":worker")
		do("impersonate", worker.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(of)))
		do("change an account", team.Patch(t.Context(), &corev1.ServiceAccount{ObjectMeta: meta("worker")}, merge(`{"imagePullSecrets":[{"name":"mine"}]}`)))
	})
	t.Run("collect", func(t *testing.T) {
		do("delete in the foreground", team.Delete(t.Context(), scaled, client.PropagationPolicy(metav1.DeletePropagationForeground)))
		do("delete a Job", team.Delete(t.Context(), once, client.PropagationPolicy(metav1.DeletePropagationBackground)))
		do("delete a pod", team.Delete(t.Context(), bare))
		s.pods(t, of, "deployment", 0)
		s.pods(t, of, "job", 0)
		harness.Eventually(t, soon, poll, func() error { return harness.Gone(t.Context(), s.admin, scaled) })
	})
	t.Run("end", func(t *testing.T) {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: of}}
		do("delete a namespace", s.actors[clusterAdmin].Delete(t.Context(), ns))
		harness.Eventually(t, soon, poll, func() error { // nobody stops the daemon: its node has no kubelet
			_ = s.admin.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(of), client.GracePeriodSeconds(0))
			return harness.Gone(t.Context(), s.admin, ns)
		})
	})
}

// TestAnActionRuns plays what the manager, a kubelet and people do for one action, with all policies in force.
func TestAnActionRuns(t *testing.T) {
	s := newStage(t)
	const of = "factory"
	team, boss := s.team(t, of), s.actors[manager].in(t)
	s.node(t)
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	in := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: of, Name: name} }
	s.create(t, roleBinding(of, rbacv1.GroupKind, "night-shift", "edit"))
	s.create(t, roleBinding(of, rbacv1.UserKind, approver, "statecraft-remediation-approver"))
	must("make a target", team.Create(t.Context(), &appsv1.Deployment{ObjectMeta: in("web"), Spec: deployment("web", "default").Spec}))

	// Somebody whose rights come from a group asks for it, and another person approves.
	nurse := s.actor(t, "nurse", s.bed.ConfigFor("nurse", "night-shift"))
	x := execution("scale")
	x.Namespace = of
	harness.Eventually(t, soon, poll, func() error { return client.IgnoreAlreadyExists(nurse.Create(t.Context(), x)) })
	must("say what is planned", boss.Status().Patch(t.Context(), x, merge(`{"status":{"phase":"waiting_approval",%s}}`, plan(digest))))
	kxa := approval(x, remediationv1.Approved)
	kxa.Namespace, kxa.Spec.ValidUntil = of, ptr.To(metav1.NewTime(x.CreationTimestamp.Add(dayOff)))
	harness.Eventually(t, soon, poll, func() error { return harness.Accepted(t, s.actors[approver], kxa) })
	must("approve", s.actors[approver].Create(t.Context(), kxa))

	// The manager makes the account and its Job.
	must("make an account", boss.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: in(account)}))
	must("bind it", boss.Create(t.Context(), roleBinding(of, rbacv1.ServiceAccountKind, account, account)))
	must("begin", boss.Patch(t.Context(), x, merge(`{"metadata":{"annotations":{"%s":"%s"}}}`, remediationv1.BegunAnnotation, x.UID)))
	j := actionJob("factory")
	j.Namespace, j.Spec.TTLSecondsAfterFinished = of, ptr.To[int32](0)
	everywhere(&j.Spec.Template.Spec)
	must("own the Job", controllerutil.SetControllerReference(x, j, s.admin.Scheme()))
	must("make a Job", boss.Create(t.Context(), j))
	must("save its UID", boss.Status().Patch(t.Context(), x, merge(`{"status":{"phase":"executing","jobUID":"%s"}}`, j.UID)))
	must("release it", boss.Patch(t.Context(), j, merge(`{"spec":{"suspend":false}}`)))

	// A kubelet runs the pod, whose action changes the target.
	kubelet := s.actor(t, "kubelet", s.bed.ConfigFor("system:node:"+nodeName, "system:nodes"))
	p := &corev1.Pod{}
	harness.Eventually(t, soon, poll, func() error {
		pods := &corev1.PodList{}
		if err := s.admin.List(t.Context(), pods, client.InNamespace(of), client.MatchingLabels{batchv1.JobNameLabel: j.Name}); err != nil {
			return err
		}
		if len(pods.Items) != 1 || pods.Items[0].Spec.NodeName == "" {
			return fmt.Errorf("the action has %d pods", len(pods.Items))
		}
		*p = pods.Items[0]
		return nil
	})
	var token string
	harness.Eventually(t, soon, poll, func() error { // the node authorizer learns of the pod
		r, err := kubelet.core().CoreV1().ServiceAccounts(of).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
			BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID},
		}}, metav1.CreateOptions{})
		if err == nil {
			token = r.Status.Token
		}
		return err
	})
	must("change the target", kubelet.bearing(token).Patch(t.Context(), &appsv1.Deployment{ObjectMeta: in("web")}, merge(`{"spec":{"replicas":3}}`)))
	must("report", kubelet.Status().Patch(t.Context(), p, merge(`{"status":{"phase":"Succeeded","containerStatuses":[
		{"name":"action","image":"i","imageID":"i","restartCount":0,"ready":false,"state":{"terminated":{"exitCode":0,"reason":"Completed","message":"{}","containerID":"c://1"}}}]}}`)))

	// The Job goes by its TTL, and waits for its pod, which stays until the manager has read it.
	harness.Eventually(t, soon, poll, func() error {
		if err := s.admin.Get(t.Context(), client.ObjectKeyFromObject(p), p); err != nil {
			return err
		}
		if len(p.Finalizers) != 1 || p.DeletionTimestamp == nil {
			return fmt.Errorf("the pod has the finalizers %v, and is to go since %v", p.Finalizers, p.DeletionTimestamp)
		}
		return nil
	})
	must("let the pod go", boss.Patch(t.Context(), p, merge(`{"metadata":{"finalizers":null}}`)))
	harness.Eventually(t, soon, poll, func() error { return harness.Gone(t.Context(), s.admin, j) })

	// A namespace that goes waits for the execution, and goes when it has ended.
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: of}}
	must("delete the namespace", s.actors[clusterAdmin].Delete(t.Context(), ns))
	harness.Eventually(t, soon, poll, func() error {
		if err := s.admin.Get(t.Context(), client.ObjectKeyFromObject(ns), ns); err != nil {
			return err
		}
		for _, c := range ns.Status.Conditions {
			if c.Type == corev1.NamespaceDeletionContentFailure && c.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("the namespace says %v", ns.Status.Conditions)
	})
	must("end", boss.Status().Patch(t.Context(), x, merge(`{"status":{"phase":"completed","effect":"Applied"}}`)))
	harness.Eventually(t, soon, poll, func() error { return harness.Gone(t.Context(), s.admin, ns) })
}

// TestPeopleChangeTheirMinds cancels, withdraws and deletes what may be.
func TestPeopleChangeTheirMinds(t *testing.T) {
	s := newStage(t)
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	x := s.execution(t, requester, "minds", `{"phase":"waiting_approval",`+plan(digest)+`}`)
	s.known(t, x, digest)
	for by, decision := range map[string]remediationv1.ApprovalDecision{approver: remediationv1.Approved, rejecter: remediationv1.Rejected} {
		made := approval(x, decision)
		must("decide", s.actors[by].Create(t.Context(), made))
		must("withdraw", s.actors[by].Delete(t.Context(), made))
	}
	must("acknowledge", s.actors[approver].Create(t.Context(), approval(x, remediationv1.Acknowledged)))
	must("cancel", s.actors[requester].Patch(t.Context(), x, merge(`{"spec":{"cancel":true}}`)))
	must("label", s.actors[requester].Patch(t.Context(), x, merge(`{"metadata":{"labels":{"a":"b"}}}`)))
	must("end", s.actors[manager].Status().Patch(t.Context(), x, merge(`{"status":{"phase":"failed"}}`)))
	must("delete", s.actors[requester].Delete(t.Context(), x, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	harness.Eventually(t, soon, poll, func() error { return harness.Gone(t.Context(), s.admin, x) })

	child := execution("child")
	stepOf(child)
	child.Spec.Requester = &meta.Requester{Username: "nurse", Groups: []string{"night-shift"}}
	must("make a child", s.actors[manager].Create(t.Context(), child))
	if child.Spec.Requester.Username != "nurse" {
		t.Errorf("a child has the requester %+v", child.Spec.Requester)
	}
}
