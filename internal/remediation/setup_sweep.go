package remediation

import (
	"time"

	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/remediation/act"
)

// sweepEvery is how soon a pod of an action may go after its report was saved.
const sweepEvery = 5 * time.Second

func sweepPods(a *kube.Area) error {
	sweeper := act.Sweeper{Writer: a.Env.Writer("sweep"), Cached: a.Env.Cached(), Live: a.Env.LiveReader()}
	return a.Every("pods of actions", sweepEvery, sweeper.Sweep)
}
