package plugin

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/statecraft-dev/statecraft/internal/areas"
)

func TestNothingButReadsIsSent(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { asked++; w.WriteHeader(http.StatusNotFound) }))
	defer server.Close()
	r, err := NewReader(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	pods, secrets := r.typed.CoreV1().Pods("shop"), r.typed.CoreV1().Secrets("shop")
	_, create := pods.Create(t.Context(), &corev1.Pod{}, metav1.CreateOptions{})
	_, update := pods.Update(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.UpdateOptions{})
	_, get := secrets.Get(t.Context(), "access", metav1.GetOptions{})
	_, list := secrets.List(t.Context(), metav1.ListOptions{})
	_, everywhere := r.typed.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{})
	_, inSecrets := r.typed.CoreV1().Secrets("secrets").Get(t.Context(), "a", metav1.GetOptions{})
	for what, err := range map[string]error{
		"create": create, "update": update, "delete": pods.Delete(t.Context(), "web", metav1.DeleteOptions{}), "get": get, "list": list,
		"list of all": everywhere, "in a namespace called secrets": inSecrets,
	} {
		if err == nil || !strings.Contains(err.Error(), "is refused: this program") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if asked > 0 {
		t.Errorf("%d requests were sent", asked)
	}
	_, _ = pods.Get(t.Context(), "web", metav1.GetOptions{})
	_, _ = r.typed.CoreV1().Pods("secrets").Get(t.Context(), "secrets", metav1.GetOptions{})
	_, _ = r.typed.CoreV1().Events("secrets").List(t.Context(), metav1.ListOptions{})
	if asked != 3 {
		t.Errorf("%d of 3 reads were sent", asked)
	}
}

// Every kind of every area is known by its registration alone.
func TestKinds(t *testing.T) {
	known := map[string]bool{}
	for _, k := range Kinds() {
		known[k.GroupKind.Kind] = true
		if k.Machine.Table.Hash == "" || len(k.Machine.Table.Phases) == 0 || !strings.HasSuffix(k.Group, ".statecraft.dev") {
			t.Errorf("%s has no table or group", k.GroupKind)
		}
		children, err := k.childKinds()
		if err != nil {
			t.Error(err)
		}
		for _, c := range children {
			if c.Kind == "Secret" {
				t.Errorf("Secrets are asked for as children of %s", k.GroupKind.Kind)
			}
		}
		for _, s := range k.Machine.Shows {
			if len(s.Name) > 8 {
				t.Errorf("%s: %q is too long for a label", k.GroupKind.Kind, s.Name)
			}
		}
	}
	for _, k := range areas.Kinds() {
		if !known[k.Kind] {
			t.Errorf("%s is not known", k.Kind)
		}
	}
}

func TestChildrenOfACluster(t *testing.T) {
	owned := func(kind, name string, uid, owner types.UID, cluster string) unstructured.Unstructured {
		u := unstructured.Unstructured{}
		u.SetKind(kind)
		u.SetName(name)
		u.SetUID(uid)
		u.SetLabels(map[string]string{"cluster": cluster})
		if owner != "" {
			u.SetOwnerReferences([]metav1.OwnerReference{{UID: owner}})
		}
		return u
	}
	web := owned("ValkeyCluster", "web", "c", "", "")
	got := belonging(&web, "cluster", []unstructured.Unstructured{
		owned("Pod", "web-0-0", "p", "s", ""),
		owned("StatefulSet", "web-0", "s", "c", ""),
		owned("PersistentVolumeClaim", "data-web-0-0", "v", "", "web"),
		owned("Pod", "other-0-0", "o", "x", "other"),
	})
	var names []string
	for _, u := range got {
		names = append(names, u.GetName())
	}
	if strings.Join(names, " ") != "web-0-0 web-0 data-web-0-0" {
		t.Error(names)
	}
}

func TestExitCodes(t *testing.T) {
	for name, args := range map[string][]string{
		"no cluster":        {"status", "--kubeconfig", "nowhere"},
		"no name":           {"why"},
		"an unknown output": {"status", "-o", "xml"},
		"an unknown verb":   {"fix"},
	} {
		var out, problems strings.Builder
		if code := Run(t.Context(), args, &out, &problems); code != CouldNotLook || !strings.HasPrefix(problems.String(), "error: ") {
			t.Errorf("%s: %d %s", name, code, problems.String())
		}
	}
}
