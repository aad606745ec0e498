package kube

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// answer is one of the API server, about a Service.
func answer(code int32, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Code: code, Reason: reason, Message: message, Details: &metav1.StatusDetails{Kind: "services", Name: "web"},
	}}
}

func TestRefusalsNameWhoRefusesAndWhatToDo(t *testing.T) {
	services := schema.GroupResource{Resource: "services"}
	forbidden := func(why string) error { return apierrors.NewForbidden(services, "web", errors.New(why)) }
	for what, c := range map[string]struct {
		err  error
		want fsm.Reason
		says []string
	}{
		"a quota": {forbidden("exceeded quota: few, requested: services=1, used: services=3, limited: services=3"),
			ReasonQuotaExceeded, []string{"ResourceQuota few", "services web", "asks for services=1: free", "raise the quota"}},
		"a quota that needs more to be said": {forbidden("failed quota: cpu: must specify limits.cpu for: a"),
			ReasonQuotaExceeded, []string{"ResourceQuota cpu", "must specify limits.cpu"}},
		"a webhook": {answer(http.StatusForbidden, metav1.StatusReasonForbidden, `admission webhook "names.example.com" denied the request: web is no name`),
			ReasonWebhookDenied, []string{"webhook names.example.com", "web is no name"}},
		"a webhook without words": {answer(http.StatusBadRequest, "", `admission webhook "names.example.com" denied the request without explanation`),
			ReasonWebhookDenied, []string{"webhook names.example.com", "does not say why"}},
		"a webhook that is down": {answer(http.StatusInternalServerError, metav1.StatusReasonInternalError,
			`Internal error occurred: failed calling webhook "names.example.com": failed to call webhook: Post "https://10.0.0.1:443": dial tcp 10.0.0.1:443: connect: connection refused`),
			ReasonWebhookFailed, []string{"webhook names.example.com", "cannot be called"}},
		"a policy": {answer(http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, `services "web" is forbidden: ValidatingAdmissionPolicy 'no-web' with binding 'all' denied request: no web here`),
			ReasonPolicyDenied, []string{"ValidatingAdmissionPolicy no-web", "no web here"}},
		"pod security": {forbidden(`violates PodSecurity "restricted:latest": runAsNonRoot != true (pod must not run as root)`),
			ReasonPolicyDenied, []string{"restricted:latest", "runAsNonRoot"}},
		"a right that is missing": {forbidden(`User "system:serviceaccount:a:b" cannot create resource "services" in API group "" in the namespace "shop"`),
			ReasonNotPermitted, []string{"system:serviceaccount:a:b", `in the namespace "shop"`}},
		"a field that cannot be changed": {apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "web", field.ErrorList{
			field.Invalid(field.NewPath("spec", "clusterIP"), "None", "field is immutable")}),
			ReasonInvalidChild, []string{"Service web", "spec.clusterIP", "field is immutable"}},
		"something else": {answer(http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge, "Request entity too large"),
			ReasonRefused, []string{"services web", "too large"}},
	} {
		t.Run(what, func(t *testing.T) {
			err := Classify(c.err)
			if got := fsm.ReasonOf(err); got != c.want {
				t.Errorf("reason %q, want %q", got, c.want)
			}
			said := fsm.StatusMessage(err)
			for _, part := range c.says {
				if !strings.Contains(said, part) {
					t.Errorf("%q lacks %q", said, part)
				}
			}
			if !strings.HasSuffix(said, ".") || strings.Contains(said, "%!") {
				t.Errorf("%q is no sentence", said)
			}
		})
	}
	for what, err := range map[string]error{"a conflict": apierrors.NewConflict(services, "web", errors.New("x")), "a time-out": apierrors.NewTimeoutError("x", 1), "a cut": errors.New("EOF")} {
		if got := fsm.ReasonOf(Classify(err)); got != "" {
			t.Errorf("%s has the reason %s", what, got)
		}
	}
}

// TestARefusedChildIsNamed: the answer of a webhook does not say what it is about.
func TestARefusedChildIsNamed(t *testing.T) {
	denied := &apierrors.StatusError{ErrStatus: metav1.Status{
		Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: `admission webhook "names.example.com" denied the request: no`,
	}}
	untyped := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	untyped.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Service"))
	for what, obj := range map[string]client.Object{
		"typed": &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, "untyped": untyped,
	} {
		want := "Admission webhook names.example.com refuses Service web: no. Change what it objects to, or ask who runs the webhook."
		if got := fsm.StatusMessage(wrap("create", obj, denied)); got != want {
			t.Errorf("%s: %q", what, got)
		}
	}
}

func TestAnswersAreTheSameFromTryToTry(t *testing.T) {
	tries := [][2]string{
		{"denied at 2026-11-17T19:00:00Z by 7d3c1a2e-0000-4000-8000-000000000001 after 12ms", "denied at 2026-11-17T19:00:09.5Z by 7d3c1a2e-0000-4000-8000-000000000002 after 1.3s"},
		{"dial 10.0.0.1:31234: trace 0af7651916cd43dd8448eb211c80319c", "dial 10.0.0.2:1: trace b7ad6b7169203331aabbccdd00112233"},
	}
	for _, try := range tries {
		if a, b := steady(try[0]), steady(try[1]); a != b {
			t.Errorf("%q and %q", a, b)
		}
	}
	if kept := "limits.cpu=2 of web-0-1 in version 8.1.1"; steady(kept) != kept {
		t.Errorf("%q", steady(kept))
	}
	if long := steady(strings.Repeat("ä ", 1000)); len([]rune(long)) > longestAnswer+1 {
		t.Errorf("%d characters", len([]rune(long)))
	}
}
