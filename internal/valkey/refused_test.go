package valkey

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// refusal is a part of the cluster that refuses a child of a cluster.
type refusal struct {
	part  string                                                  // how its namespace and objects are called
	names []string                                                // what status and event must name
	set   func(t *testing.T, f *fleet, c *valkeyv1.ValkeyCluster) // sets it up before the manager starts
}

var refusals = []refusal{
	{"quota", []string{"ResourceQuota no-sets", "count/statefulsets.apps", "raise the quota"}, refuseByQuota},
	{"webhook", []string{"webhook no-services.example.com", "Service webhook", "ask platform"}, refuseByWebhook},
	{"policy", []string{"ValidatingAdmissionPolicy no-budgets", "budgets are for platform"}, refuseByPolicy},
	{"immutable", []string{"Service immutable-nodes", "spec.clusterIPs[0]", "delete it"}, refuseByImmutableField},
}

// TestRefusalsAreNamed: for whoever looks at a cluster that is stuck, the status, the columns and the event name the part
// that refuses a child and what to do; and they do not change from try to try.
func TestRefusalsAreNamed(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, "valkey")
	f := newFleet(t, b)
	var namespaces []string
	clusters := map[string]*valkeyv1.ValkeyCluster{}
	for _, r := range refusals {
		c := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: bedtest.Namespace(t, b), Name: r.part}}
		f.create(t, c)
		r.set(t, f, c)
		clusters[r.part] = c
		namespaces = append(namespaces, c.Namespace)
	}
	f.startManager(t, b, thisVersion(), namespaces...)
	for _, r := range refusals {
		c := clusters[r.part]
		harness.Eventually(t, within, poll, func() error { return f.tells(t, b, c, r) })
	}
	tries := harness.ByLevel(2, 3) // it is tried again after 30 s, 60 s, two minutes
	for _, r := range refusals {
		harness.Eventually(t, within, fleetLooks, func() error { return f.hasFailed(t, clusters[r.part], tries) })
		first := clusters[r.part].Status.History
		for _, move := range first {
			if last := first[len(first)-1]; move.To == cluster.Failed && (move.Reason != last.Reason || move.Message != last.Message) {
				t.Errorf("%s: a try said %s, %s; another %s, %s", r.part, move.Reason, move.Message, last.Reason, last.Message)
			}
		}
	}
	harness.Eventually(t, within, fleetLooks, func() error { // the last event is written
		all, err := b.Writes(time.Now().Add(-5*time.Second), harness.User("valkey"))
		if err == nil && len(all) > 0 {
			err = fmt.Errorf("still writes: %v", bed.CountWrites(all))
		}
		return err
	})
	before, since := map[string]string{}, time.Now()
	for _, r := range refusals {
		before[r.part] = f.show(t, b, clusters[r.part])
		t.Logf("%s\n%s", r.part, before[r.part])
	}
	calm := harness.ByLevel(30*time.Second, time.Minute)
	<-time.After(calm)
	all, err := b.Writes(since, harness.User("valkey"))
	if err != nil || len(all) > 0 {
		t.Errorf("%d writes in %s: %v, %v", len(all), calm, bed.CountWrites(all), err)
	}
	for _, r := range refusals {
		if after := f.show(t, b, clusters[r.part]); after != before[r.part] {
			t.Errorf("%s: was\n%s\nis\n%s", r.part, before[r.part], after)
		}
	}
}

// hasFailed says nil once a cluster has failed so many times.
func (f *fleet) hasFailed(t *testing.T, c *valkeyv1.ValkeyCluster, times int) error {
	t.Helper()
	if err := f.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
		return err
	}
	for _, move := range c.Status.History {
		if move.To == cluster.Failed {
			times--
		}
	}
	if times > 0 {
		return fmt.Errorf("%s has to fail %d more times: %s", c.Name, times, c.Status.WaitingFor)
	}
	return nil
}

// ages are the column of a row that changes by itself.
var ages = regexp.MustCompile(`\b(\d+m)?\d+s\b|\b\d+m\b`)

// show is what kubectl shows of a cluster: its row, its condition Ready and its warnings, without ages.
func (f *fleet) show(t *testing.T, b *bed.Bed, c *valkeyv1.ValkeyCluster) string {
	t.Helper()
	var out []string
	for _, args := range [][]string{
		{"get", "vkc", c.Name, "-n", c.Namespace, "-o", "wide", "--no-headers"},
		{"get", "vkc", c.Name, "-n", c.Namespace, "-o", `jsonpath={range .status.conditions[?(@.type=="Ready")]}{.status} {.reason}: {.message}{end}`},
		{"get", "events", "-n", c.Namespace, "--field-selector", "type=Warning,involvedObject.kind=ValkeyCluster", "-o", `jsonpath={range .items[*]}{.reason}: {.message}{"\n"}{end}`},
	} {
		text, err := b.Kubectl(t.Context(), args...)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		out = append(out, text)
	}
	out[0] = ages.ReplaceAllString(strings.TrimSpace(out[0]), "AGE")
	return strings.Join(out, "\n")
}

// tells says nil if row, condition and event name what refuses.
func (f *fleet) tells(t *testing.T, b *bed.Bed, c *valkeyv1.ValkeyCluster, r refusal) error {
	t.Helper()
	parts := strings.SplitN(f.show(t, b, c), "\n", 3)
	for i, part := range []string{"kubectl get -o wide", "condition Ready", "events"} {
		for _, name := range r.names {
			if i >= len(parts) || !strings.Contains(parts[i], name) {
				return fmt.Errorf("%s: %s does not name %q:\n%s", r.part, part, name, strings.Join(parts, "\n"))
			}
		}
	}
	return nil
}

func refuseByQuota(t *testing.T, f *fleet, c *valkeyv1.ValkeyCluster) {
	none := corev1.ResourceList{"count/statefulsets.apps": resource.MustParse("0")}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "no-sets"}, Spec: corev1.ResourceQuotaSpec{Hard: none}}
	f.create(t, quota)
	harness.Eventually(t, within, poll, func() error { // it is enforced once it was counted
		if err := f.Get(t.Context(), client.ObjectKeyFromObject(quota), quota); err != nil {
			return err
		}
		if len(quota.Status.Hard) == 0 {
			return fmt.Errorf("the quota is not counted yet")
		}
		return nil
	})
}

func refuseByWebhook(t *testing.T, f *fleet, c *valkeyv1.ValkeyCluster) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
			http.Error(w, "no review", http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Code: http.StatusForbidden, Message: "no Services here; ask platform"}}
		_ = json.NewEncoder(w).Encode(review)
	}))
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	hook := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "no-services-" + c.Namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "no-services.example.com", AdmissionReviewVersions: []string{"v1"}, SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone),
			ClientConfig:      admissionregistrationv1.WebhookClientConfig{URL: ptr.To(server.URL), CABundle: authority},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: c.Namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"services"}},
			}},
		}},
	}
	f.create(t, hook)
	t.Cleanup(func() { f.remove(t, hook) })
	harness.Eventually(t, within, poll, func() error {
		return f.isRefused(t, &corev1.Service{ObjectMeta: probe(c), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}}})
	})
}

func refuseByPolicy(t *testing.T, f *fleet, c *valkeyv1.ValkeyCluster) {
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "no-budgets"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			FailurePolicy: ptr.To(admissionregistrationv1.Fail),
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: c.Namespace}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{"policy"}, APIVersions: []string{"v1"}, Resources: []string{"poddisruptionbudgets"}},
				}}},
			},
			Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: "budgets are for platform to make"}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "no-budgets"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "no-budgets", ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	f.create(t, policy)
	f.create(t, binding)
	t.Cleanup(func() { f.remove(t, binding); f.remove(t, policy) })
	harness.Eventually(t, within, poll, func() error { return f.isRefused(t, &policyv1.PodDisruptionBudget{ObjectMeta: probe(c)}) })
}

// refuseByImmutableField gives the cluster a Service that seems to be its own, and has an address: a headless one is not
// made of it.
func refuseByImmutableField(t *testing.T, f *fleet, c *valkeyv1.ValkeyCluster) {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: spec.NodesName(c),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c, valkeyv1.GroupVersion.WithKind("ValkeyCluster"))},
		},
		Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}},
	}
	f.create(t, service)
}

func probe(c *valkeyv1.ValkeyCluster) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: c.Namespace, GenerateName: "probe-"}
}

// isRefused says nil once a probe of what is to be refused is.
func (f *fleet) isRefused(t *testing.T, obj client.Object) error {
	t.Helper()
	if err := f.Create(t.Context(), obj, client.DryRunAll); !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) {
		return fmt.Errorf("nothing refuses it yet: %w", err)
	}
	return nil
}

func (f *fleet) remove(t *testing.T, obj client.Object) {
	t.Helper()
	if err := f.Delete(context.Background(), obj); client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
}
