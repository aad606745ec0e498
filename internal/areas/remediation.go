package areas

import (
	"flag"
	"os"

	"github.com/statecraft-dev/statecraft/internal/kube"
	area "github.com/statecraft-dev/statecraft/internal/remediation"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
	kx "github.com/statecraft-dev/statecraft/internal/remediation/explain"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy/child"
	"github.com/statecraft-dev/statecraft/internal/remediation/request"
)

const (
	// RemediationProgram runs area remediation. It has the evaluator of policies, which the manager should not have.
	RemediationProgram = "statecraft-remediation"
	// EvaluateCommand is the argument with which that program answers one question about policies.
	EvaluateCommand = "evaluate"
)

func remediation() Area {
	return Area{
		Name: "remediation", Code: "remediation", Program: RemediationProgram,
		Images: map[string]string{"remediation-action-image": "action"},
		Setup:  remediationFlags,
		Machines: []Machine{
			machine(&execution.Machine, "internal/remediation/execution").
				showing("Action", "spec.action", "Target", "spec.target.name", "Effect", "status.effect", "By", "spec.requester.username").
				detailing(kx.Sections).naming(kx.NamedIn(), kx.Rollbacks),
			machine(&request.Machine, "internal/remediation/request").
				showing("Steps", "status.stepsCompleted", "Step", "status.currentStep", "On fail", "spec.onFailure", "By", "spec.requester.username").
				detailing(kx.RequestSections),
		},
		Metrics: area.Metrics,
	}
}

func remediationFlags(set *flag.FlagSet) func() kube.AreaSetup {
	c := area.Defaults()
	set.StringVar(&c.ActionImage, "remediation-action-image", c.ActionImage, "image of statecraft-action, which performs built-in actions")
	set.DurationVar(&c.TTLCompleted, "remediation-ttl-completed", c.TTLCompleted, "how long after its end an execution, or a request, that succeeded is deleted; 0 is never")
	set.DurationVar(&c.TTLFailed, "remediation-ttl-failed", c.TTLFailed, "how long after its end an execution, or a request, that failed is deleted; 0 is never. One with an unknown outcome stays")
	set.DurationVar(&c.Brakes.Cooldown, "remediation-cooldown", c.Brakes.Cooldown, "how soon after an action changed a target the same action may be done to it again; 0 is at once")
	set.IntVar(&c.Brakes.PerNamespace, "remediation-rate-per-namespace", c.Brakes.PerNamespace, "how many executions may be released in a namespace within an hour; 0 is any number")
	set.IntVar(&c.Brakes.Failures, "remediation-storm-failures", c.Brakes.Failures, "how many executions of the cluster may fail within --remediation-storm-window; if more do, none is released. 0 is any number")
	set.DurationVar(&c.Brakes.Window, "remediation-storm-window", c.Brakes.Window, "the time within which executions that failed are counted")
	set.StringVar(&c.Audit.DSNFile, "audit-dsn-file", "", "file with the connection string of the audit database; none is recorded if empty")
	set.StringVar(&c.Audit.KeyFile, "audit-key-file", "", "file with the keys of audit records: an id and a key of 32 bytes as base64 a line, of which the last signs")
	set.BoolVar(&c.Audit.Required, "audit-required", false, "release no execution before what it is about to do is recorded")
	return func() kube.AreaSetup { return area.Area(c, child.NewClient(self(), EvaluateCommand)) }
}

// self is the program that runs; policies are evaluated by a child of it.
func self() string {
	path, err := os.Executable()
	if err != nil {
		return RemediationProgram // found in the PATH, or every question is denied
	}
	return path
}
