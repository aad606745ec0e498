package bed_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/test/bed"
)

// TestALogWithReadsOutlivesItsBed: a bed that is told so logs what accounts read, and still counts writes alone.
func TestALogWithReadsOutlivesItsBed(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(bed.AuditEnv, folder)
	b, err := bed.Start(t.Context(), bed.ControlPlane)
	if err != nil {
		t.Fatal(err)
	}
	const user = "system:serviceaccount:shop:till"
	since := time.Now()
	c := clientFor(t, b.ConfigFor(user, "system:masters", "system:serviceaccounts", "system:serviceaccounts:shop"))
	maps := c.CoreV1().ConfigMaps(metav1.NamespaceDefault)
	if _, err := maps.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := maps.Watch(t.Context(), metav1.ListOptions{}); err != nil { // it ends with the bed
		t.Error(err)
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "configmaps"},
	}}
	if _, err := c.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	checkCounts(t, b, since, user, map[string]int{})
	if err := b.Stop(); err != nil {
		t.Error(err)
	}
	checkLog(t, folder, user)
}

func checkLog(t *testing.T, folder, user string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(folder, "*.log"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("logs %v, %v; want one", logs, err)
	}
	content, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(content)) {
		for _, what := range []string{`"verb":"list"`, `"verb":"watch"`, `selfsubjectaccessreviews`} {
			found[what] = found[what] || strings.Contains(line, what) && strings.Contains(line, user)
		}
		if strings.Contains(line, `"verb":"get"`) && strings.Contains(line, ":kube-system:") {
			t.Fatalf("a controller's read is logged: %s", line)
		}
	}
	for what, logged := range found {
		if !logged {
			t.Errorf("%s of %s is not logged", what, user)
		}
	}
}
