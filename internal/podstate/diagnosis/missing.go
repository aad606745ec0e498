package diagnosis

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/podstate"
)

// recent is how old an event may be that still says something: a StatefulSet tries again after at most 17 minutes.
const recent = 20 * time.Minute

// OfMissing is why a pod that a StatefulSet should have made does not exist, by the events of its namespace. What was
// made after it was refused is missing for another reason.
func OfMissing(namespace, name string, events []corev1.Event, now time.Time) podstate.Trouble {
	var last *corev1.Event
	for i := range events {
		e := &events[i]
		if !strings.Contains(e.Message, " Pod "+name+" in StatefulSet ") || e.Reason != "FailedCreate" && e.Reason != "SuccessfulCreate" {
			continue
		}
		if last == nil || when(e).After(when(last)) || when(e).Equal(when(last)) && e.Reason == "SuccessfulCreate" {
			last = e
		}
	}
	if last == nil || last.Reason != "FailedCreate" || now.Sub(when(last)) > recent {
		return podstate.Trouble{}
	}
	const words = "Kubernetes does not create pod %s (%s): %s. Change what refuses it in namespace %s, or what the spec asks for."
	return podstate.Trouble{Reason: podstate.FailedCreate, Words: fmt.Sprintf(words, name, podstate.FailedCreate, refusal(last.Message), namespace)}
}

// when is the last time that an event happened.
func when(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	}
	return e.EventTime.Time
}

// How a StatefulSet and the API server begin what they say, and what changes from try to try: how much of a quota others use.
var (
	preamble  = regexp.MustCompile(`^.* failed error: ([a-z]+ "[^"]*" is forbidden: )?`)
	usedSoFar = regexp.MustCompile(`, used: .*?, limited: `)
)

// refusal is what the API server said, without what changes from try to try.
func refusal(said string) string {
	return quote(usedSoFar.ReplaceAllString(preamble.ReplaceAllString(strings.ReplaceAll(said, "\n", " "), ""), ", limited: "))
}
