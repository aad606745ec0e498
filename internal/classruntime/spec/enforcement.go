package spec

import (
	"cmp"
	"time"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/enforce"
)

const (
	defaultMaxReplicas   = 20
	defaultMinConfidence = 70
)

// The default paces: what is missing is added soon, and what is too much goes slowly.
var (
	defaultUp   = runtimev1.Pace{StabilitySeconds: 30, CooldownSeconds: 30, MaxStepPercent: 100}
	defaultDown = runtimev1.Pace{StabilitySeconds: 300, CooldownSeconds: 120, MaxStepPercent: 30}
)

// SettingsOf are those by which the replicas of a function are enforced that asks for so many.
func SettingsOf(c *runtimev1.ClassRuntime, floor int32) enforce.Settings {
	e := runtimev1.Enforcement{}
	if c.Spec.Enforcement != nil {
		e = *c.Spec.Enforcement
	}
	s := enforce.Settings{
		Mode: enforce.Mode(ModeOf(c)), Up: paceOf(e.Up, defaultUp), Down: paceOf(e.Down, defaultDown),
		Min: floor, Max: cmp.Or(e.MaxReplicas, defaultMaxReplicas), MinConfidence: cmp.Or(e.MinConfidencePercent, defaultMinConfidence), StaleAfter: StaleAfter(c),
	}
	if most := TemplateOf(c).most; most > 0 {
		s.Max = min(s.Max, most)
	}
	return s
}

func paceOf(p *runtimev1.Pace, standard runtimev1.Pace) enforce.Pace {
	if p == nil {
		p = &standard
	}
	return enforce.Pace{
		Stability:   seconds(cmp.Or(p.StabilitySeconds, standard.StabilitySeconds)),
		Cooldown:    seconds(cmp.Or(p.CooldownSeconds, standard.CooldownSeconds)),
		StepPercent: cmp.Or(p.MaxStepPercent, standard.MaxStepPercent),
	}
}

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }
