package plugin

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/explain"
	kx "github.com/statecraft-dev/statecraft/internal/remediation/explain"
)

// longestApproval is how long an approval may hold. Admission refuses a longer one.
const longestApproval = 24 * time.Hour

// decision is what a person wants to decide, by the flags.
type decision struct {
	*options
	remediationv1.ApprovalDecision
	cmd       *cobra.Command
	args      []string
	question  string // that is asked before it is written
	reason    string
	validFor  time.Duration
	rollback  bool
	yes       bool
	digest    string
	dryRun    string
	decider   *Decider
	namespace string
}

func newApprove(o *options) *cobra.Command {
	d := &decision{options: o, ApprovalDecision: remediationv1.Approved, question: "Approve exactly this plan?"}
	cmd := d.command("approve execution", "Approve the plan of an execution that waits for it",
		"Approve the plan of an execution that waits for it. What is shown comes from one read, and the approval\n"+
			"quotes the digest of that very plan: if it changes before the action begins, the approval is void.",
		"  kubectl statecraft approve more -n shop\n  kubectl statecraft approve kx/more -n shop --reason='The sale begins at noon.' --include-rollback --yes")
	cmd.Flags().DurationVar(&d.validFor, "valid-for", 0, "how long the approval holds, at most 24h; an hour if not given")
	cmd.Flags().BoolVar(&d.rollback, "include-rollback", false, "approve the rollback as well, while the target is as the action left it")
	return cmd
}

func newReject(o *options) *cobra.Command {
	d := &decision{options: o, ApprovalDecision: remediationv1.Rejected, question: "Reject this plan, and so end the execution?"}
	return d.command("reject execution", "Reject the plan of an execution, which ends it",
		"Reject the plan of an execution, which ends it, whatever others approve. A rejection counts until the Job\n"+
			"of the action is released, and only its author can withdraw it.",
		"  kubectl statecraft reject more -n shop --reason='Not during the sale.'")
}

// command is a verb about a plan.
func (d *decision) command(use, short, long, example string) *cobra.Command {
	cmd := d.bare(use, short, long, example)
	cmd.Flags().StringVar(&d.digest, "digest", "", "decide only if the plan still has this digest")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return d.run(cmd, args, d.plan)
	}
	return cmd
}

// bare is a verb with the flags that all decisions have.
func (d *decision) bare(use, short, long, example string) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Example: example, Args: cobra.ExactArgs(1),
		Long: long + "\n\nWithout --yes a terminal asks; without a terminal nothing is written. The exit code is 0 if the decision was\n" +
			"written, 1 if it was not, and 2 if the cluster could not be asked.",
	}
	cmd.Flags().StringVar(&d.reason, "reason", "", "why, for those who read it later")
	cmd.Flags().BoolVarP(&d.yes, "yes", "y", false, "do not ask")
	cmd.Flags().StringVar(&d.dryRun, "dry-run", "none", "server asks the API server whether it would take the decision, and writes nothing; or none")
	return cmd
}

func (d *decision) run(cmd *cobra.Command, args []string, decide func(name string) error) error {
	if d.dryRun != "none" && d.dryRun != "server" {
		return fmt.Errorf("unknown dry run %q: choose server or none", d.dryRun)
	}
	if d.validFor < 0 || d.validFor > longestApproval {
		return fmt.Errorf("an approval cannot hold for %s: give at most %s", d.validFor, longestApproval)
	}
	name, err := executionName(args[0])
	if err != nil {
		return err
	}
	cfg, namespace, err := d.cluster()
	if err != nil {
		return err
	}
	if d.decider, err = NewDecider(cfg, namespace); err != nil {
		return err
	}
	d.decider.System, d.decider.now = d.system, d.now
	d.cmd, d.args, d.namespace = cmd, args, namespace
	return decide(name)
}

// plan decides about the plan that an execution has.
func (d *decision) plan(name string) error {
	x, err := d.decider.Execution(d.cmd.Context(), name)
	if err != nil {
		return err
	}
	if x.Status.Plan != nil {
		d.show(explain.Paper(kx.Title(x)+" asks to do this, once:", kx.Plan(x, d.now())))
	}
	if why := kx.Hindrance(x, d.ApprovalDecision); why != "" {
		return d.undecided(why)
	}
	if d.digest != "" && d.digest != x.Status.Plan.Digest {
		return d.undecided("The plan has changed since you looked at it: above is the one that there is now. Nothing was decided.")
	}
	spec := remediationv1.ExecutionApprovalSpec{
		ExecutionRef: remediationv1.ExecutionRef{Name: x.Name, UID: x.UID}, PlanDigest: x.Status.Plan.Digest,
		Decision: d.ApprovalDecision, Reason: d.reason, IncludesRollback: d.rollback,
	}
	return d.write(spec, "--yes", "--digest="+spec.PlanDigest)
}

// write asks the API server, then the person, and then writes. What is asked about is what is written.
func (d *decision) write(spec remediationv1.ExecutionApprovalSpec, sure ...string) error {
	would, err := d.decider.Decide(d.cmd.Context(), d.valid(spec), true)
	switch {
	case err != nil:
		return d.refused(err, spec.ExecutionRef)
	case d.dryRun == "server":
		return d.print(d.cmd, unmade(would), "\n"+explain.Paper("The API server would take this decision. Nothing was written."))
	}
	if !d.yes {
		if !d.terminal(d.cmd.InOrStdin()) {
			return d.unasked(sure...)
		}
		if !ask(d.cmd.Context(), d.cmd.InOrStdin(), d.cmd.ErrOrStderr(), "\n"+d.question+" Only yes is a yes: ") {
			return d.undecided("Nothing was decided.")
		}
	}
	made, err := d.decider.Decide(d.cmd.Context(), d.valid(spec), false)
	if err != nil {
		return d.refused(err, spec.ExecutionRef)
	}
	return d.print(d.cmd, made, "\n"+explain.Paper(kx.Decided(made)))
}

// unmade is a decision as somebody can still make it: nothing has its name and UID.
func unmade(a *remediationv1.ExecutionApproval) *remediationv1.ExecutionApproval {
	a.ObjectMeta = metav1.ObjectMeta{Namespace: a.Namespace, GenerateName: a.GenerateName}
	return a
}

// valid says until when an approval holds, counted from now.
func (d *decision) valid(spec remediationv1.ExecutionApprovalSpec) remediationv1.ExecutionApprovalSpec {
	if d.validFor > 0 {
		until := metav1.NewTime(d.now().Add(d.validFor).Truncate(time.Second))
		spec.ValidUntil = &until
	}
	return spec
}

// refused says why the API server does not take a decision. Other errors do not tell whether it was written.
func (d *decision) refused(err error, ref remediationv1.ExecutionRef) error {
	var status apierrors.APIStatus
	if errors.As(err, &status) && (apierrors.IsForbidden(err) || apierrors.IsInvalid(err)) {
		return d.undecided(kx.Refusal(err, ref, d.namespace))
	}
	return err
}

// unasked shows the command that decides about what was shown, and about nothing else.
func (d *decision) unasked(sure ...string) error {
	d.say(explain.Paper("Nothing was decided, because there is no terminal to ask. What was shown, and nothing else, is decided by") +
		"\n  " + again(d.cmd, d.args, d.namespace, sure...) + "\n")
	return errNotAsWished
}

func (d *decision) undecided(why string) error {
	d.say(explain.Paper(why))
	return errNotAsWished
}

// say writes what the person must know, below what was shown.
func (d *decision) say(text string) { fmt.Fprint(d.cmd.ErrOrStderr(), "\n"+text) }

// show writes what is decided about. If the output is data, it is not a part of it.
func (d *decision) show(text string) {
	to := d.cmd.OutOrStdout()
	if d.output != "" {
		to = d.cmd.ErrOrStderr()
	}
	fmt.Fprint(to, text)
}
