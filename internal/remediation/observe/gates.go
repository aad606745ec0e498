package observe

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/guard"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// SwitchName is the ConfigMap in the namespace of the product with which an administrator suspends all executions.
const SwitchName = "statecraft-remediation"

// Gates looks at what keeps any execution from being released.
type Gates struct {
	Live      read.Live
	Namespace string // of the product
	// Policies looks at the admission policies of the area.
	Policies func(context.Context) (guard.Verdict, error)
	// Identity says what is wrong with the account that the manager runs with; "" is nothing.
	Identity func(context.Context) (string, error)
}

// look says what is closed, and why the identity of the requester is not proven.
// A step has the requester of its request, so the identity of that must be proven as well.
func (g Gates) look(ctx context.Context, x *remediationv1.KubernetesExecution, of *remediationv1.RemediationRequest) (closed execution.Gates, unprovenBy string, err error) {
	return g.lookFor(ctx, func(v guard.Verdict) string {
		if why := unproven(v, "execution", x.Spec.Requester, x.CreationTimestamp.Time); why != "" || of == nil {
			return why
		}
		return unproven(v, "request", of.Spec.Requester, of.CreationTimestamp.Time)
	})
}

// lookFor is look for whatever has a requester, whose identity says judges once the policies are in force.
func (g Gates) lookFor(ctx context.Context, says func(guard.Verdict) string) (closed execution.Gates, unproven string, err error) {
	verdict, err := g.Policies(ctx)
	if err != nil {
		return closed, "", err
	}
	if verdict.Gap != "" {
		closed.Policies = verdict.Gap + ", so the API server does not check who asks for executions: an administrator must install the policies of this version again."
	} else {
		unproven = says(verdict)
	}
	if closed.Identity, err = g.Identity(ctx); err != nil {
		return closed, "", err
	}
	closed.Suspended, err = g.suspended(ctx)
	return closed, unproven, err
}

// unproven says why the admission policies may not have looked at who made an execution or a request.
func unproven(v guard.Verdict, what string, by *meta.Requester, made time.Time) string {
	if by == nil || by.Username == "" {
		return "The " + what + " does not say who made it, because no admission policy recorded it; make another one."
	}
	if early := v.TooEarly("the "+what, made); early != "" {
		return "No admission policy checked who made the " + what + ": " + early + "; make another one."
	}
	return ""
}

// suspended reads the switch live: it must work at once.
func (g Gates) suspended(ctx context.Context) (string, error) {
	var cm corev1.ConfigMap
	sight, err := read.Find(ctx, g.Live, read.Key{Namespace: g.Namespace, Name: SwitchName}, &cm, nil)
	if err != nil {
		return "", fmt.Errorf("read the switch of all executions: %w", err)
	}
	switch value := cm.Data["suspended"]; {
	case sight != presence.Here, value == "", value == "false":
		return "", nil
	default: // who writes "True" or "yes" into an emergency brake means it
		return fmt.Sprintf("All executions are suspended by ConfigMap %s of namespace %s; an administrator must remove suspended from it.", SwitchName, g.Namespace), nil
	}
}
