package bed_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
)

func clientFor(t *testing.T, config *rest.Config) kubernetes.Interface {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWritesAreCountedExactlyAndByUser(t *testing.T) {
	b := bedtest.ControlPlane(t)
	namespace := bedtest.Namespace(t, b)
	const writer = "writer"
	maps := clientFor(t, b.ConfigFor(writer, "system:masters")).CoreV1().ConfigMaps(namespace)
	bystander := clientFor(t, b.ConfigFor("bystander", "system:masters")).CoreV1().ConfigMaps(namespace)
	since := time.Now()
	const rounds = 25
	for i := range rounds {
		name := fmt.Sprintf("map-%d", i)
		created := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := maps.Create(t.Context(), created, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		patch := []byte(`{"data":{"key":"value"}}`)
		if _, err := maps.Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		dry := metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}
		if err := maps.Delete(t.Context(), name, dry); err != nil {
			t.Fatal(err)
		}
		if _, err := bystander.Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := bystander.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		checkCounts(t, b, since, writer, map[string]int{"create configmaps": i + 1, "patch configmaps": i + 1})
	}
	checkCounts(t, b, since, "bystander", map[string]int{"delete configmaps": rounds})
	checkCounts(t, b, time.Now(), writer, map[string]int{})
}

func checkCounts(t *testing.T, b *bed.Bed, since time.Time, user string, want map[string]int) {
	t.Helper()
	writes, err := b.Writes(since, user)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, bed.CountWrites(writes)); diff != "" {
		t.Fatalf("writes of %s (-want +got):\n%s", user, diff)
	}
}

func TestAWriteSaysWhatHappenedToWhat(t *testing.T) {
	b := bedtest.ControlPlane(t)
	namespace := bedtest.Namespace(t, b)
	const user = "author"
	since := time.Now()
	maps := clientFor(t, b.ConfigFor(user)).CoreV1().ConfigMaps(namespace)
	forbidden := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "forbidden"}}
	if _, err := maps.Create(t.Context(), forbidden, metav1.CreateOptions{}); err == nil {
		t.Fatal("a user without roles could write")
	}
	writes, err := b.Writes(since, user)
	if err != nil {
		t.Fatal(err)
	}
	if len(writes) != 1 {
		t.Fatalf("%d writes, want 1: %+v", len(writes), writes)
	}
	got := writes[0]
	want := bed.Write{
		Time: got.Time, UserAgent: got.UserAgent, User: user, Verb: "create",
		Resource: "configmaps", Namespace: namespace, Name: got.Name, Code: 403,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("write (-want +got):\n%s", diff)
	}
}

func TestElectionsCanBeLeftOutWhileOtherLeasesStay(t *testing.T) {
	b := bedtest.ControlPlane(t)
	namespace := bedtest.Namespace(t, b)
	const user = "leader"
	config := b.ConfigFor(user, "system:masters")
	since := time.Now()
	for name, config := range map[string]*rest.Config{
		"election": rest.AddUserAgent(rest.CopyConfig(config), "leader-election"), "reservation": config,
	} {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}}
		leases := clientFor(t, config).CoordinationV1().Leases(namespace)
		if _, err := leases.Create(t.Context(), lease, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	writes, err := b.Writes(since, user)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, write := range bed.WithoutElections(writes) {
		names = append(names, write.Name)
	}
	if diff := cmp.Diff([]string{"reservation"}, names); diff != "" {
		t.Errorf("leases but those of elections (-want +got):\n%s", diff)
	}
}
