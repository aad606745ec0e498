package kube

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Why the API server refuses a request, as a user can act on it.
const (
	ReasonQuotaExceeded  fsm.Reason = "QuotaExceeded"  // a ResourceQuota does not allow it
	ReasonWebhookDenied  fsm.Reason = "WebhookDenied"  // an admission webhook refuses it
	ReasonWebhookFailed  fsm.Reason = "WebhookFailed"  // an admission webhook could not be asked
	ReasonPolicyDenied   fsm.Reason = "PolicyDenied"   // a ValidatingAdmissionPolicy, or Pod Security, refuses it
	ReasonNotPermitted   fsm.Reason = "NotPermitted"   // the manager's account lacks the right
	ReasonInvalidChild   fsm.Reason = "InvalidChild"   // the API server finds a field invalid, or immutable
	ReasonNameTaken      fsm.Reason = "NameTaken"      // an object of another owner has the name of a child
	ReasonFieldContested fsm.Reason = "FieldContested" // others own fields that were to be applied
	ReasonRefused        fsm.Reason = "Refused"        // refused for another reason; the message has it
)

// refusals are the forms in which the API server words who refuses. Each pattern's first
// group is the refusing part, and its second, if any, what that said.
var refusals = []struct {
	reason  fsm.Reason
	pattern *regexp.Regexp
	words   string // of what is refused, by whom, and what that said
}{
	{ReasonQuotaExceeded, regexp.MustCompile(`exceeded quota: ([^,]+), requested: ([^ ]+?)(?:, |$)`),
		`ResourceQuota %[2]s does not allow %[1]s, which asks for %[3]s: free some of it, or raise the quota.`},
	{ReasonQuotaExceeded, regexp.MustCompile(`failed quota: ([^:]+): (must specify .+)`),
		`ResourceQuota %[2]s refuses %[1]s: %[3]s.`},
	{ReasonWebhookDenied, regexp.MustCompile(`(?s)admission webhook "([^"]+)" denied the request(?:: (.+)| without explanation)`),
		`Admission webhook %[2]s refuses %[1]s: %[3]s. Change what it objects to, or ask who runs the webhook.`},
	{ReasonWebhookFailed, regexp.MustCompile(`failed calling webhook "([^"]+)"`),
		`Admission webhook %[2]s, which is asked about %[1]s, cannot be called: ask who runs it.`},
	{ReasonPolicyDenied, regexp.MustCompile(`(?s)ValidatingAdmissionPolicy '([^']+)' with binding '[^']+' denied request: (.+)`),
		`ValidatingAdmissionPolicy %[2]s refuses %[1]s: %[3]s. Change what it objects to, or ask who set the policy.`},
	{ReasonPolicyDenied, regexp.MustCompile(`(?s)violates PodSecurity "([^"]+)": (.+)`),
		`Pod Security %[2]s of the namespace refuses %[1]s: %[3]s.`},
	{ReasonNotPermitted, regexp.MustCompile(`User "([^"]+)" (cannot .+)`),
		`The manager may not write %[1]s: user %[2]s %[3]s. Give its account the roles that it is installed with.`},
}

// refusal says in one word and in words who refuses a request, and what to do about it. What
// changes from try to try is left out.
func refusal(err error, what string) (fsm.Reason, string) {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return "", ""
	}
	s := status.Status()
	what = subject(s, what)
	for _, r := range refusals {
		if m := r.pattern.FindStringSubmatch(s.Message); m != nil {
			said := "it does not say why"
			if len(m) > 2 && m[2] != "" {
				said = steady(m[2])
			}
			return r.reason, sentence(r.words, what, m[1], said)
		}
	}
	switch {
	case apierrors.IsInvalid(err) && s.Details != nil && len(s.Details.Causes) > 0:
		said := steady(causes(s.Details.Causes))
		if fixed.MatchString(said) {
			return ReasonInvalidChild, fmt.Sprintf("The API server does not let %s be changed: %s. "+
				"Undo the change; or, if nothing depends on the object, delete it, and it is made anew.", what, said)
		}
		return ReasonInvalidChild, fmt.Sprintf("The API server finds %s invalid: %s. Change what the spec asks for.", what, said)
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err),
		apierrors.IsMethodNotSupported(err), apierrors.IsRequestEntityTooLargeError(err):
		return ReasonRefused, fmt.Sprintf("The API server refuses %s: %s.", what, steady(s.Message))
	}
	return "", ""
}

// sentence fills in words, of which some leave out what was said.
func sentence(words, what, by, said string) string {
	if !strings.Contains(words, "%[3]s") {
		return fmt.Sprintf(words, what, by)
	}
	return fmt.Sprintf(words, what, by, said)
}

// subject is what the request was about, as far as the answer says.
func subject(s metav1.Status, unsaid string) string {
	if s.Details == nil || s.Details.Kind == "" {
		return unsaid
	}
	return strings.TrimSpace(s.Details.Kind + " " + s.Details.Name)
}

// fixed matches how the API server says that a field of an object that exists cannot change.
var fixed = regexp.MustCompile(`immutable|may not (be )?change|[Uu]pdates? to .* forbidden|forbidden: updates`)

const mostCauses = 3

func causes(all []metav1.StatusCause) string {
	var words []string
	for _, c := range all[:min(len(all), mostCauses)] {
		words = append(words, strings.TrimPrefix(c.Field+": "+c.Message, ": "))
	}
	return strings.Join(words, "; ")
}

// changing matches what differs between two answers to the same request: UIDs, moments,
// durations, addresses with ports, and long runs of hexadecimal digits.
var changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}` +
	`|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?( [+-]\d{4} [A-Z]+)?` +
	`|\b(\d+(\.\d+)?(ms|µs|ns|h|m|s))+\b|\d+\.\d+\.\d+\.\d+:\d+|\b[0-9a-f]{16,}\b`)

const longestAnswer = 400

// steady is an answer without what changes from try to try, in one line.
func steady(answer string) string {
	answer = strings.Join(strings.Fields(changing.ReplaceAllString(answer, "…")), " ")
	if runes := []rune(answer); len(runes) > longestAnswer {
		answer = string(runes[:longestAnswer]) + "…"
	}
	return strings.TrimRight(answer, ".")
}
