package action

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

func TestTokens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"u/done", "u/started", "u/", "/done", "u", "u/done/", "uu/done"})).Draw(t, "value")
		target := map[string]any{"metadata": map[string]any{"annotations": map[string]any{remediationv1.TokenAnnotation: value}}}
		want := map[string]State{"u/done": Done, "u/started": Started}[value]
		if got := ReadToken(target, "u"); got != want {
			t.Errorf("%q is %q", value, got)
		}
		if got := ReadToken(target, ""); got != "" {
			t.Errorf("%q is %q of nobody", value, got)
		}
	})
	for _, target := range []map[string]any{nil, {"metadata": "x"}, {"metadata": map[string]any{"annotations": map[string]any{remediationv1.TokenAnnotation: 7}}}} {
		if got := ReadToken(target, "u"); got != "" {
			t.Errorf("%v: %q", target, got)
		}
	}
	patch := map[string]any{"spec": map[string]any{"x": nil}, "metadata": map[string]any{"labels": map[string]any{"gone": nil}}}
	got, _ := json.Marshal(Preconditioned(WithToken(patch, "u", Started), "t", "7"))
	const want = `{"metadata":{"annotations":{"remediation.statecraft.dev/last-action":"u/started"},"labels":{"gone":null},"resourceVersion":"7","uid":"t"},"spec":{"x":null}}`
	if string(got) != want {
		t.Errorf("%s", got)
	}
}
