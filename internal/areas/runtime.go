package areas

import (
	"flag"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	area "github.com/statecraft-dev/statecraft/internal/classruntime"
	"github.com/statecraft-dev/statecraft/internal/classruntime/class"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

func runtime() Area {
	return Area{
		Name: "runtime", Code: "classruntime", Program: ManagerProgram,
		Setup: runtimeFlags,
		Machines: []Machine{
			machine(&class.Machine, "internal/classruntime/class", "internal/classruntime/enforce").labelling(runtimev1.ClassLabel).
				inParts("enforcement", "function", "Lane").
				showing("Function", "status.readyFunctions", "Template", "status.template"),
		},
		Metrics: area.Metrics,
	}
}

func runtimeFlags(set *flag.FlagSet) func() kube.AreaSetup {
	c := &area.Config{}
	set.Var(&c.Sources, "runtime-telemetry-source", "a source of telemetry that classes may name: name=NAME,url=URL and, if need be, "+
		"interval=DURATION between two scrapes (15s), window=DURATION over which is measured (2m), ca-file, cert-file, key-file and token-file; may be given several times")
	return func() kube.AreaSetup { return area.Area(*c) }
}
