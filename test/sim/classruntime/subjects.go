// Package classruntime has the stories of area runtime for the simulation. The API server and garbage collection are
// real; the stories play the controller of Deployments and the kubelet, because when the cluster's own do something is
// not the same every time.
package classruntime

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/sim"
)

const area = "runtime"

var (
	classKind      = runtimev1.GroupVersion.WithKind("ClassRuntime")
	deploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment")
	replicaSetKind = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")
	autoscalerKind = autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler")
	budgetKind     = policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget")
	serviceKind    = corev1.SchemeGroupVersion.WithKind("Service")
	podKind        = corev1.SchemeGroupVersion.WithKind("Pod")
)

// Subjects are the stories of area runtime.
func Subjects() []*sim.Subject {
	return []*sim.Subject{subject("class-lives", open), subject("replicas-change-hands", openHandover)}
}

func subject(name string, open func(*sim.World) *sim.Play) *sim.Subject {
	return &sim.Subject{
		Name: name, Area: area, AddToScheme: runtimev1.AddToScheme,
		Install: func(t testing.TB, b *bed.Bed) { t.Helper(); harness.Install(t, b, area) },
		User:    harness.User(area),
		Groups:  []string{"system:serviceaccounts", "system:serviceaccounts:" + harness.SystemNamespace},
		Kinds:   []schema.GroupVersionKind{classKind, deploymentKind, serviceKind, autoscalerKind, budgetKind, replicaSetKind, podKind},
		Own:     []schema.GroupVersionKind{classKind},
		Open:    open,
	}
}
