package spec

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/classruntime/enforce"
)

func TestSettings(t *testing.T) {
	c := &runtimev1.ClassRuntime{}
	c.Spec.Enforcement = &runtimev1.Enforcement{Mode: runtimev1.ModeEnforce}
	want := enforce.Settings{
		Mode: enforce.Enforce, Min: 3, Max: 20, MinConfidence: 70, StaleAfter: 180 * time.Second,
		Up:   enforce.Pace{Stability: 30 * time.Second, Cooldown: 30 * time.Second, StepPercent: 100},
		Down: enforce.Pace{Stability: 300 * time.Second, Cooldown: 120 * time.Second, StepPercent: 30},
	}
	if diff := cmp.Diff(want, SettingsOf(c, 3)); diff != "" {
		t.Error(diff)
	}
	c.Spec.Enforcement = &runtimev1.Enforcement{
		Mode: runtimev1.ModeEnforce, MaxReplicas: 7, MinConfidencePercent: 50, StaleAfterSeconds: 60, Down: &runtimev1.Pace{StabilitySeconds: 10, MaxStepPercent: 5},
	}
	want.Max, want.MinConfidence, want.StaleAfter = 7, 50, time.Minute
	want.Down.Stability, want.Down.StepPercent = 10*time.Second, 5
	if diff := cmp.Diff(want, SettingsOf(c, 3)); diff != "" {
		t.Error(diff)
	}
	c.Spec.Template = runtimev1.TemplateDev
	if got := SettingsOf(c, 1).Max; got != 1 {
		t.Errorf("the template dev may have %d replicas", got)
	}
	if got := SettingsOf(&runtimev1.ClassRuntime{}, 1).Mode; got != enforce.Off {
		t.Errorf("a class that asks for nothing has mode %s", got)
	}
}
