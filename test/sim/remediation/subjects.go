// Package remediation has the stories of area remediation for the simulation. The controllers speak as their own
// account, with a token that is bound to a pod, and the policies of the area are in force; the Jobs that they make are
// run by the stories.
package remediation

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	"github.com/statecraft-dev/statecraft/internal/remediation/request"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/sim"
)

const area = "remediation"

var (
	executionKind  = remediationv1.GroupVersion.WithKind("KubernetesExecution")
	requestKind    = remediationv1.GroupVersion.WithKind("RemediationRequest")
	approvalKind   = remediationv1.GroupVersion.WithKind("ExecutionApproval")
	jobKind        = batchv1.SchemeGroupVersion.WithKind("Job")
	podKind        = corev1.SchemeGroupVersion.WithKind("Pod")
	deploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment")
	configMapKind  = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	leaseKind      = coordinationv1.SchemeGroupVersion.WithKind("Lease")
)

// Subjects are the stories of area remediation.
func Subjects() []*sim.Subject {
	more, next := "more", "next"
	begins := []fsm.Phase{"", execution.Validating} // every story does, and the first is about it
	ready := append(slices.Clone(begins), execution.Validated, execution.WaitingApproval)
	made := append(slices.Clone(ready), execution.Executing, execution.Executing+"-begun")
	// What executions do, also once their request has ended, is what their own stories are about.
	theirs := []fsm.Phase{request.Executing + isRunning, request.RollingBack + isRunning, request.Completed, request.RolledBack}
	begun := append(slices.Clone(theirs), "", request.Pending)
	return []*sim.Subject{
		subject("execution-is-approved", tale{asks: true, steps: (*story).isApproved, meddles: (*story).resize}),
		subject("execution-is-cancelled", tale{calm: made, steps: (*story).isWithdrawn, events: []event{{more, whenSaved, (*story).cancel}}}),
		subject("execution-meets-another-target", tale{calm: made, asks: true, steps: (*story).isWithdrawn, events: []event{{more, whenSaved, (*story).remake}}}),
		subject("execution-is-taken-back", tale{asks: true, steps: (*story).isTakenBack, meddles: (*story).touch}),
		subject("execution-loses-its-job", tale{calm: begins, steps: (*story).losesItsJob, events: []event{
			{more, whenSaved, (*story).lose}, {next, beforeEffect, (*story).lose},
		}}),
		subject("execution-loses-its-report", tale{calm: made, steps: (*story).losesItsReport, events: []event{
			{more, afterEffect, (*story).lose}, {next, beforeEffect, (*story).loseJob},
		}}),
		subject("execution-loses-its-status", tale{steps: (*story).losesItsStatus}),
		subject("request-succeeds", tale{wants: []int{5, 4}, calm: theirs, steps: (*story).succeeds}),
		subject("request-rolls-back", tale{wants: []int{5, 5}, takesBack: true, calm: append(slices.Clone(begun), request.Executing), steps: (*story).rollsBack}),
		subject("request-is-deleted", tale{wants: []int{5, 4}, asks: true, calm: begun, steps: (*story).isDeleted}),
	}
}

func subject(name string, t tale) *sim.Subject {
	return &sim.Subject{
		Name: name, Area: area, AddToScheme: remediationv1.AddToScheme, Install: install, Connect: connect,
		User:  harness.User(area),
		Kinds: []schema.GroupVersionKind{requestKind, executionKind, approvalKind, jobKind, podKind, deploymentKind, configMapKind},
		// NOTE: nobody runs Jobs here but the stories: see controlPlane in sim_test.go.
		Own:  []schema.GroupVersionKind{requestKind, executionKind, jobKind, leaseKind},
		Open: t.open,
	}
}
