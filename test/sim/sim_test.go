package sim_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/statecraft-dev/statecraft/internal/areas"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/sim"
	"github.com/statecraft-dev/statecraft/test/sim/capture"
	"github.com/statecraft-dev/statecraft/test/sim/classruntime"
	"github.com/statecraft-dev/statecraft/test/sim/remediation"
	"github.com/statecraft-dev/statecraft/test/sim/valkey"
)

func TestMain(m *testing.M) { harness.Main(m) }

// subjects are the stories of all areas.
func subjects() []*sim.Subject {
	return slices.Concat(capture.Subjects(), valkey.Subjects(), remediation.Subjects(), classruntime.Subjects())
}

// Every kind of every area is in a story: one that was never tried under faults is not trusted.
func TestEveryKindHasAStory(t *testing.T) {
	for _, a := range areas.All() {
		for _, kind := range a.Default().Kinds {
			told := func(s *sim.Subject) bool {
				return s.Area == a.Name && slices.ContainsFunc(slices.Concat(s.Kinds, []schema.GroupVersionKind{s.About}), func(k schema.GroupVersionKind) bool { return k.GroupKind() == kind.GroupKind })
			}
			if !slices.ContainsFunc(subjects(), told) {
				t.Errorf("no story of area %s has the kind %s", a.Name, kind.Kind)
			}
		}
	}
}

// TestSim tries every subject under faults. The environment chooses: AREA, PLAN,
// SEED, BUDGET (a duration, for all subjects together), FAULTS (with commas, these alone) and
// DEPTH (2: pairs of faults).
func TestSim(t *testing.T) {
	options := fromEnvironment(t)
	name, plan, _ := strings.Cut(os.Getenv("PLAN"), ":")
	var chosen []*sim.Subject
	for _, s := range subjects() {
		if area := os.Getenv("AREA"); (area == "" || area == s.Area) && (name == "" || name == s.Name) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		t.Fatalf("no subject of area %q and name %q", os.Getenv("AREA"), name)
	}
	began := time.Now()
	for i, s := range chosen {
		t.Run(s.Name, func(t *testing.T) {
			o := options
			o.Plan, o.Out = plan, os.Stdout
			if o.Budget > 0 {
				o.Budget = max(time.Second, (o.Budget-time.Since(began))/time.Duration(len(chosen)-i))
			}
			report, err := sim.NewLab(t, controlPlane(t), s).Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			report.Print(os.Stdout)
			if n := len(report.Divergences); n > 0 {
				t.Errorf("%d plans diverged", n)
			}
			if whole := o.Budget == 0 && !o.Pairs && plan == ""; whole && report.Tried != report.Total {
				t.Errorf("tried %d of %d", report.Tried, report.Total)
			}
		})
	}
}

// controlPlane is one without the controllers that only answer to what pods do: no story looks at that, and they
// would write half as often as all others together. Claims and volumes are bound and let go, Jobs are run and Deployments
// are left alone, and scaled, by the stories: when the cluster does it, is not the same every time.
func controlPlane(t testing.TB) *bed.Bed {
	t.Helper()
	return bedtest.ControlPlane(t, bed.Without("disruption-controller", "endpoints-controller", "endpointslice-controller", "endpointslice-mirroring-controller",
		"persistentvolume-binder-controller", "persistentvolume-protection-controller", "persistentvolumeclaim-protection-controller",
		"job-controller", "ttl-after-finished-controller", "pod-garbage-collector-controller", "deployment-controller", "replicaset-controller",
		"horizontal-pod-autoscaler-controller"))
}

func fromEnvironment(t *testing.T) (o sim.Options) {
	t.Helper()
	o.Seed = uint64(time.Now().UnixNano()) % 1_000_000
	var err error
	if v := os.Getenv("SEED"); v != "" {
		if o.Seed, err = strconv.ParseUint(v, 10, 64); err != nil {
			t.Fatalf("SEED: %v", err)
		}
	}
	if v := os.Getenv("BUDGET"); v != "" {
		if o.Budget, err = time.ParseDuration(v); err != nil {
			t.Fatalf("BUDGET: %v", err)
		}
	}
	if v := os.Getenv("FAULTS"); v != "" {
		for name := range strings.SplitSeq(v, ",") {
			if !slices.Contains(sim.Faults, sim.Fault(name)) {
				t.Fatalf("FAULTS: %q is none of %s", name, sim.Faults)
			}
			o.Faults = append(o.Faults, sim.Fault(name))
		}
	}
	switch v := os.Getenv("DEPTH"); v {
	case "", "1":
	case "2":
		o.Pairs = true
		if o.Budget == 0 && os.Getenv("PLAN") == "" {
			t.Fatal("DEPTH=2 goes on for ever: set BUDGET")
		}
	default:
		t.Fatalf("DEPTH: %q is neither 1 nor 2", v)
	}
	return o
}
