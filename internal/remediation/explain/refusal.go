package explain

import (
	"fmt"
	"strings"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// refusals are the words with which the API server refuses a decision, and what to do then. A test on a real one holds
// them to the admission policies.
var refusals = []struct{ words, next string }{
	{"the requester of an execution cannot approve, reject or acknowledge it",
		"Another person who may approve in namespace %[2]s must decide; you may cancel it: kubectl patch kx %[1]s -n %[2]s --type=merge " +
			`-p '{"spec":{"cancel":true}}'.`},
	{"may not approve kubernetesexecutions",
		"An administrator gives the right to approve: kubectl create rolebinding approvers -n %[2]s " +
			"--clusterrole=statecraft-remediation-approver --user=NAME."},
	{`cannot create resource "executionapprovals"`,
		"An administrator gives the right to approve: kubectl create rolebinding approvers -n %[2]s " +
			"--clusterrole=statecraft-remediation-approver --user=NAME."},
	{"spec.planDigest is not status.plan.digest of the execution", "The plan has changed since you looked at it, and nothing was decided: look at the new one, and decide about that."},
	{"spec.executionRef.uid is that of another execution", "Another execution has that name by now, and nothing was decided: look at it, and decide about that."},
	{"a person decides about an execution", "Log on as a person who may approve, and decide again."},
}

// Refusal is why the API server refuses a decision, in its own words, and what to do then.
func Refusal(err error, ref remediationv1.ExecutionRef, namespace string) string {
	words := err.Error()
	if _, own, cut := strings.Cut(words, "denied request: "); cut {
		words = own
	}
	said := "The API server refuses the decision: " + sentence(words)
	for _, r := range refusals {
		if strings.Contains(words, r.words) {
			return said + " " + expand(r.next, ref.Name, namespace)
		}
	}
	return said
}

// expand fills a text in that may need neither name nor namespace.
func expand(text, name, namespace string) string {
	if !strings.Contains(text, "%[") {
		return text
	}
	return fmt.Sprintf(text, name, namespace)
}
