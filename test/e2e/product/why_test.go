package product

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
)

// TestWhyAnswersAViewer asks as a user with the role view, who writes nothing; and as an administrator, when the managers
// are dead.
func TestWhyAnswersAViewer(t *testing.T) {
	s := newStage(t, config.Namespace)
	s.install(release, first)
	namespace := bedtest.Namespace(t, s.bed)
	s.create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: viewer},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: viewer}},
	})
	s.create(cluster(namespace, "asleep", func(vkc *valkeyv1.ValkeyCluster) { small(vkc); vkc.Spec.Paused = true }))
	s.create(cluster(namespace, "huge", func(vkc *valkeyv1.ValkeyCluster) {
		small(vkc)
		vkc.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("100Ti")}
	}))
	s.claim(namespace)
	<-time.After(inForceAfter)
	unsnapped := captureOf(namespace, "payroll")
	unsnapped.Spec.VolumeSnapshotClassName = "none"
	s.create(unsnapped)

	kubeconfig, err := s.bed.KubeconfigFor(viewer)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for object, words := range situations {
		s.kubectl("wait", "-n", namespace, "--for=jsonpath={.status.reason}="+words[0], object, "--timeout="+within.String())
		answer, code := runPlugin(t, s.bed, kubeconfig, "why", object, "-n", namespace)
		says(t, answer, code, 1, words...)
	}
	writes, err := s.bed.Writes(began, viewer)
	if err != nil || len(writes) > 0 {
		t.Errorf("who asks why wrote %v, %v", writes, err)
	}

	s.kubectl("scale", "deployment", "-n", s.system, "--all", "--replicas=0")
	s.kubectl("wait", "-n", s.system, "--for=delete", "pod", "-l", "app.kubernetes.io/part-of=statecraft", "--timeout=60s")
	answer, code := s.plugin("why", "vkc/asleep", "-n", namespace)
	says(t, answer, code, 1, "No manager of area valkey leads")
}

const viewer = "victor"

// situations are objects, the reason of each, and what else is said of it.
var situations = map[string][]string{
	"vkc/asleep":  {"Paused", "the owner of the object"},
	"vkc/huge":    {"PodsFailing", "Unschedulable", "Insufficient memory"},
	"vcr/payroll": {"NotFound", "VolumeSnapshotClass", "the storage team"},
}
