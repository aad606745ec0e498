package class

import (
	"fmt"
	"time"

	"github.com/statecraft-dev/statecraft/internal/podstate"
)

// A container crashes again and again if it was restarted so often and its last run fell into the last minutes. Counts
// are for life, so that one restart after months is none; and until a pod has been ready for a while, that it is ready
// is only the time between two crashes.
const (
	ManyRestarts = 3
	recently     = 10 * time.Minute
	proven       = time.Minute
)

// crashes says that a pod of a function ends again and again, before or after it was first ready.
func crashes(f Function, now time.Time) (verdict, bool) {
	for _, p := range f.Pods {
		if p.Leaving || p.Ended {
			continue
		}
		if again, is := p.crashes(now); is {
			return verdict{ReasonCrashLoop, p.crashWords(), again}, true
		}
	}
	return verdict{}, false
}

// crashes also says when it will have been ready for long enough, or the last run will be long ago; 0 is that only a change tells.
func (p Pod) crashes(now time.Time) (again time.Duration, is bool) {
	if p.Trouble.Reason == podstate.CrashLoopBackOff || p.Trouble.Reason == podstate.OOMKilled {
		return 0, true
	}
	c := p.Crash
	if c.Restarts < ManyRestarts {
		return 0, false
	}
	again = at(c.Ended).Add(recently).Sub(now)
	if now.Sub(at(c.Started)) >= recently || again <= 0 {
		return 0, false
	}
	if p.Ready {
		again = min(again, at(p.Since).Add(proven).Sub(now))
	}
	return again, again > 0
}

// crashWords are the same while it waits to be restarted and while it runs in between: else each crash would be two writes of status.
func (p Pod) crashWords() string {
	if p.Trouble.Is() && (p.Trouble.Reason != podstate.CrashLoopBackOff || p.Crash.Container == "") {
		return p.Trouble.Words
	}
	return fmt.Sprintf("Container %s of pod %s ends again and again, last with exit code %d. Read kubectl logs %s -c %s --previous.",
		p.Crash.Container, p.Name, p.Crash.Exit, p.Name, p.Crash.Container)
}
