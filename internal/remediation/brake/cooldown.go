package brake

import (
	"fmt"
	"time"
)

// Cooling holds an execution whose action was done to the same target a moment ago: what did not help is not repeated before it
// could help. Taking that execution back does not wait, and neither does the next step of the same request.
func (l Limits) Cooling(x Run, others []Run, now time.Time) *Closed {
	var last *Run
	for i := range others {
		o := &others[i]
		if isRepeated(x, *o) && o.ChangedAt.Add(l.Cooldown).After(now) && (last == nil || o.ChangedAt.After(last.ChangedAt)) {
			last = o
		}
	}
	if last == nil {
		return nil
	}
	return &Closed{
		Until: last.ChangedAt.Add(l.Cooldown),
		Why: fmt.Sprintf("KubernetesExecution %s did %s to the same target, which is not done again within %s. The execution goes on by itself; "+
			"its owner cancels it if the first one was enough.", last.title(), x.Action, words(l.Cooldown)),
	}
}

func isRepeated(x, o Run) bool {
	switch {
	case o.UID == x.UID, o.ChangedAt.IsZero(), x.TakesBack == o.UID, x.Request != "" && x.Request == o.Request:
		return false
	}
	return x.Target != "" && x.Target == o.Target && x.Action == o.Action
}
