package remediation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// shipped are the objects of a kind in a folder.
func shipped[T any](t *testing.T, folder, kind string) map[string]*T {
	t.Helper()
	objects, err := config.Objects(area, harness.SystemNamespace, folder)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*T{}
	for _, obj := range objects {
		if obj.GetKind() != kind {
			continue
		}
		all[obj.GetName()] = into[T](t, obj)
	}
	return all
}

func into[T any](t *testing.T, obj *unstructured.Unstructured) *T {
	t.Helper()
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, typed); err != nil {
		t.Fatalf("%s %s: %v", obj.GetKind(), obj.GetName(), err)
	}
	return typed
}

// grants says whether one rule holds all of a right.
func grants(rules []rbacv1.PolicyRule, verb, group, resource, name string) bool {
	return slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
		return slices.Contains(r.Verbs, verb) && slices.Contains(r.APIGroups, group) && slices.Contains(r.Resources, resource) &&
			(name == "" || slices.Contains(r.ResourceNames, name))
	})
}

// TestEachActionHasItsRole holds the roles to the actions: each has its own, of what it does and no more, and the
// manager may bind it and act with its account.
func TestEachActionHasItsRole(t *testing.T) {
	roles := shipped[rbacv1.ClusterRole](t, config.Roles, "ClusterRole")
	mine := roles["statecraft-remediation-actions-builtin"].Rules
	used := map[string]bool{}
	for name, action := range shipped[remediationv1.ActionDefinition](t, config.Defaults, "ActionDefinition") {
		used[action.Spec.ClusterRoleName] = true
		role, ok := roles[action.Spec.ClusterRoleName]
		if !ok || action.Spec.ClusterRoleName != remediationv1.AccountPrefix+name {
			t.Errorf("action %s has role %s, which is there: %t", name, action.Spec.ClusterRoleName, ok)
			continue
		}
		rights := map[string]int{"drain-node": 2}[name] // to list pods, and to evict them
		for _, kind := range action.Spec.TargetKinds {
			for _, verb := range []string{"get", action.Spec.Access[0].Verb} {
				rights++
				if !grants(role.Rules, verb, kind.Group, kind.Resource, "") {
					t.Errorf("action %s may not %s %s", name, verb, kind.Resource)
				}
				if !grants(mine, "impersonate-on:serviceaccount:"+verb, kind.Group, kind.Resource, "") {
					t.Errorf("the manager may not %s %s as an action", verb, kind.Resource)
				}
			}
		}
		for _, rule := range role.Rules {
			rights -= len(rule.Verbs) * len(rule.Resources)
		}
		if rights != 0 {
			t.Errorf("the role of action %s has other rights than get and %s of %v", name, action.Spec.Access[0].Verb, action.Spec.TargetKinds)
		}
		if !grants(mine, "bind", rbacv1.GroupName, "clusterroles", role.Name) || !grants(mine, "impersonate:serviceaccount", "authentication.k8s.io", "serviceaccounts", role.Name) {
			t.Errorf("the manager may not bind %s, or act as its account", role.Name)
		}
	}
	for name := range roles {
		if strings.HasPrefix(name, remediationv1.AccountPrefix) && !used[name] {
			t.Errorf("role %s is of no action", name)
		}
	}
}

// TestTheManagerTriesAnAction uses the roles that the product brings: the manager makes the account of an action, and
// as that reads a target and tries a change, and cannot do anything else.
func TestTheManagerTriesAnAction(t *testing.T) {
	s := newStage(t)
	boss := s.actors[manager].in(t)
	as, web := s.acting(t, "scale-deployment"), deployment("web", "")
	scale := merge(`{"spec":{"replicas":2}}`)
	harness.Eventually(t, soon, poll, func() error { return as.dryRun().Patch(t.Context(), web.DeepCopy(), scale) })
	if err := as.Get(t.Context(), client.ObjectKeyFromObject(web), web); err != nil {
		t.Error(err)
	}
	if err := as.Patch(t.Context(), web.DeepCopy(), scale); err == nil || !strings.Contains(err.Error(), ownPod) {
		t.Errorf("the manager can change it as an action: %v", err)
	}
	for what, err := range map[string]error{
		"delete it":                     as.dryRun().Delete(t.Context(), web.DeepCopy()),
		"read something else":           as.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "settings"}, &corev1.ConfigMap{}),
		"try something else":            as.dryRun().Patch(t.Context(), &corev1.ConfigMap{ObjectMeta: named("settings")}, merge(`{"data":{"a":"b"}}`)),
		"try it as an ordinary account": boss.as("system:serviceaccount:"+namespace+":"+bot).dryRun().Patch(t.Context(), web.DeepCopy(), scale),
		"try it as a user":              boss.as(owner).dryRun().Patch(t.Context(), web.DeepCopy(), scale),
	} {
		if err == nil {
			t.Errorf("the manager can %s as an action", what)
		}
	}
}

// ownPod is how a real write of an action's account is refused that does not come from a pod of it.
const ownPod = "an action acts from its own pod"

// acting is the manager as the account of an action, which it makes.
func (s *stage) acting(t *testing.T, action string) actor {
	t.Helper()
	name, boss := remediationv1.AccountPrefix+action, s.actors[manager].in(t)
	if err := boss.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: named(name)}); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, soon, poll, func() error { // the role is aggregated
		return boss.Create(t.Context(), roleBinding(namespace, rbacv1.ServiceAccountKind, name, name))
	})
	return boss.as("system:serviceaccount:" + namespace + ":" + name)
}

// TestTheManagerTriesADeletion: a dry run deletes nothing, and is of the very pod that was read.
func TestTheManagerTriesADeletion(t *testing.T) {
	s := newStage(t)
	as, pod := s.acting(t, "delete-pod"), &unstructured.Unstructured{}
	pod.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
	harness.Eventually(t, soon, poll, func() error {
		return as.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "ordinary"}, pod)
	})
	trial := read.Trial{Delete: true, Grace: new(int64(0))}
	if err := kube.Try(t.Context(), as, pod, trial); err != nil {
		t.Error(err)
	}
	another := pod.DeepCopy()
	another.SetUID("another")
	if err := kube.Try(t.Context(), as, another, trial); !apierrors.IsConflict(err) {
		t.Errorf("the deletion of another pod: %v", err)
	}
	if err := as.Delete(t.Context(), pod.DeepCopy()); err == nil || !strings.Contains(err.Error(), ownPod) {
		t.Errorf("the manager can delete it as an action: %v", err)
	}
	if err := s.admin.Get(t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{}); err != nil {
		t.Error(err)
	}
}

// TestPoliciesAreWellTyped reads what the API server says about the expressions.
func TestPoliciesAreWellTyped(t *testing.T) {
	s := newStage(t)
	harness.Eventually(t, soon, poll, func() error {
		list := &admissionv1.ValidatingAdmissionPolicyList{}
		if err := s.admin.List(t.Context(), list); err != nil {
			return err
		}
		for _, p := range list.Items {
			if p.Status.ObservedGeneration != p.Generation {
				return fmt.Errorf("policy %s is not looked at yet", p.Name)
			}
			if p.Status.TypeChecking != nil {
				for _, w := range p.Status.TypeChecking.ExpressionWarnings {
					t.Errorf("%s: %s: %s", p.Name, w.FieldRef, w.Warning)
				}
			}
		}
		return nil
	})
}
