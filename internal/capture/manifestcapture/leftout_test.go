package manifestcapture

import (
	"fmt"
	"strings"
	"testing"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
)

func TestWhatWasNotLookedAtIsTold(t *testing.T) {
	skipped := []capturev1.SkippedObjects{
		{Resource: "secrets", Reason: manifest.ReasonNotAsked},
		{Group: "example.com", Resource: "gadgets", Reason: manifest.ReasonNotAllowed},
		{Resource: "pods", Reason: manifest.ReasonControlled, Count: 3},
	}
	if got, want := leftOut(skipped), " Left out, because the account of the namespace may not list them: gadgets.example.com."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := leftOut(nil); got != "" {
		t.Errorf("of nothing it says %q", got)
	}
	for i := range 20 {
		skipped = append(skipped, capturev1.SkippedObjects{Group: "example.com", Resource: fmt.Sprintf("things%d", i), Reason: manifest.ReasonNotAllowed})
	}
	if got := leftOut(skipped); !strings.HasSuffix(got, "things8.example.com and 11 more.") {
		t.Error(got)
	}
}
