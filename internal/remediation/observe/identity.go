package observe

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// askAgain is how long an answer about the manager's own identity holds.
const askAgain = time.Minute

// Identity sees that the manager runs with its own account, from a pod: the admission policies let no other
// account make Jobs of actions.
type Identity struct {
	Who     func(context.Context) (read.User, error)
	Account string // as a user name
	Now     func() time.Time

	mu    sync.Mutex
	asked time.Time
	wrong string
}

// podUID is in the extra of a token that is bound to a pod.
const podUID = "authentication.kubernetes.io/pod-uid"

// Look says what is wrong; "" is nothing.
func (i *Identity) Look(ctx context.Context) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.asked.IsZero() && i.Now().Sub(i.asked) < askAgain {
		return i.wrong, nil
	}
	who, err := i.Who(ctx)
	if err != nil {
		return "", err
	}
	i.asked, i.wrong = i.Now(), ""
	switch {
	case who.Name != i.Account:
		i.wrong = fmt.Sprintf("The manager runs as %s and not as %s, so the API server refuses what it does: install it with its own account.", who.Name, i.Account)
	case len(who.Extra[podUID]) == 0:
		i.wrong = fmt.Sprintf("The manager runs as %s, but with a token that is bound to no pod, so the API server refuses what it does: run it as a pod.", who.Name)
	}
	return i.wrong, nil
}
