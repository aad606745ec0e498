package request

import (
	"strings"
	"testing"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// TestWhoMustActIsToldRight: the requester can do nothing about a missing policy, and the platform team nothing about a
// request that was made too early.
func TestWhoMustActIsToldRight(t *testing.T) {
	for what, c := range map[string]struct {
		sight  RightsSight
		reason fsm.Reason
		words  string
	}{
		"all is well":         {Granted, "", ""},
		"nobody asked yet":    {"", "", ""},
		"a right is missing":  {Denied, capturev1.ReasonForbidden, "ask an administrator for that right"},
		"a policy is missing": {Unguarded, capturev1.ReasonPolicyMissing, "let the platform team install the chart"},
		"it was made early":   {Early, capturev1.ReasonMadeTooEarly, "make the request again"},
	} {
		why, message, given := Rights{Sight: c.sight, Why: "This is why"}.Refusal()
		if why != c.reason || given != (c.reason != "") || !strings.Contains(message, c.words) {
			t.Errorf("%s: %s, %q", what, why, message)
		}
	}
}
