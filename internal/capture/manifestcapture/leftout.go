package manifestcapture

import (
	"fmt"
	"strings"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
)

// mostLeftOut is how many resources a message names.
const mostLeftOut = 10

// leftOut says which resources nobody looked at because the account may not list them: a capture that is Ready and has
// less than all of a namespace must not look like one that has all.
func leftOut(skipped []capturev1.SkippedObjects) string {
	var titles []string
	for _, s := range skipped {
		if s.Reason == manifest.ReasonNotAllowed {
			titles = append(titles, manifest.Resource{Group: s.Group, Resource: s.Resource}.Title())
		}
	}
	more := ""
	if n := len(titles); n > mostLeftOut {
		titles, more = titles[:mostLeftOut], fmt.Sprintf(" and %d more", n-mostLeftOut)
	}
	if len(titles) == 0 {
		return ""
	}
	return " Left out, because the account of the namespace may not list them: " + strings.Join(titles, ", ") + more + "."
}
