package plugin

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/explain"
	kx "github.com/statecraft-dev/statecraft/internal/remediation/explain"
)

func newAcknowledge(o *options) *cobra.Command {
	d := &decision{
		options: o, ApprovalDecision: remediationv1.Acknowledged,
		question: "Have you looked at the target, and is it as your reason says? This frees it.",
	}
	cmd := d.bare("acknowledge execution", "Say what you found at the target of an execution whose outcome is unknown",
		"Say what you found at the target of an execution whose outcome is unknown, which frees the target. It shows\n"+
			"the witnesses, who wrote the target and when, and the ways on. Nothing is written without --reason.\n"+
			"If the execution is gone, --uid names it; its mark is on a Lease of the system namespace.",
		"  kubectl statecraft acknowledge more -n shop\n  kubectl statecraft acknowledge more -n shop --reason='web has 5 replicas, so it was done.'\n"+
			"  kubectl statecraft acknowledge more -n shop --uid=0d3a6c4e-9d0f-4c39-8f0e-0f8f3a1c2b5d")
	var uid string
	cmd.Flags().StringVar(&uid, "uid", "", "UID of the execution, if it is gone")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return d.run(cmd, args, func(name string) error { return d.acknowledge(name, types.UID(uid)) })
	}
	return cmd
}

func (d *decision) acknowledge(name string, uid types.UID) error {
	ctx := d.cmd.Context()
	x, err := d.decider.Execution(ctx, name)
	switch {
	case apierrors.IsNotFound(err), err == nil && uid != "" && x.UID != uid:
		x = nil // gone, or another has its name
	case err != nil:
		return err
	default:
		if why := kx.Hindrance(x, d.ApprovalDecision); why != "" {
			return d.undecided(why)
		}
		uid = x.UID
	}
	m := d.decider.marks(ctx)
	if uid == "" {
		return d.nameless(name, m)
	}
	u := d.decider.unknown(ctx, x, remediationv1.ExecutionRef{Name: name, UID: uid}, m)
	if len(u.Marked) == 0 && m.all {
		return d.undecided("No target is marked by " + u.Title() + " with UID " + string(uid) + ": a person has acknowledged it, or the target is gone.")
	}
	d.show(explain.Paper(u.Head(), u.Sections()...))
	if d.reason == "" {
		d.say(explain.Paper("Nothing was written. Once you have looked at the target, say what you found by") +
			"\n  " + again(d.cmd, d.args, d.namespace, "--uid="+string(uid), "--reason=WHAT YOU FOUND") + "\n")
		return errNotAsWished
	}
	spec := remediationv1.ExecutionApprovalSpec{ExecutionRef: u.Ref, Decision: d.ApprovalDecision, Reason: d.reason}
	return d.own(spec, u)
}

// own refuses what the manager would not count: admission does not know any more who asked for an execution that is gone.
func (d *decision) own(spec remediationv1.ExecutionApprovalSpec, u kx.Unknown) error {
	if u.Execution == nil && u.Requester != "" {
		would, err := d.decider.Decide(d.cmd.Context(), spec, true)
		if err != nil {
			return d.refused(err, spec.ExecutionRef)
		}
		if a := would.Spec.Approver; a != nil && a.Username == u.Requester {
			return d.undecided("You asked for " + u.Title() + " yourself, so your word does not count: another person who may approve must look at the target.")
		}
	}
	return d.write(spec, "--yes", "--uid="+string(spec.ExecutionRef.UID))
}

// nameless says which executions of a name are known by their marks: without a UID none can be meant.
func (d *decision) nameless(name string, m marks) error {
	var uids []string
	for _, mark := range m.found {
		if by := mark.by; by.Namespace == d.namespace && by.Name == name {
			uids = append(uids, string(by.UID))
		}
	}
	if len(uids) > 0 {
		return d.undecided(fmt.Sprintf("KubernetesExecution %s/%s is gone, and its mark is still there. Name it by its UID: --uid=%s.",
			d.namespace, name, strings.Join(uids, " or --uid=")))
	}
	if m.unseen != "" {
		return d.undecided(fmt.Sprintf("There is no KubernetesExecution %s/%s. If it is gone, name it by --uid. %s", d.namespace, name, m.unseen))
	}
	return d.undecided(fmt.Sprintf("There is no KubernetesExecution %s/%s, and no target is marked by one.", d.namespace, name))
}
