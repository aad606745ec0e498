package child

import (
	"os"
	"syscall"
	"time"
)

// Cost is what one process cost.
type Cost struct {
	Wall, CPU time.Duration
	Memory    int64 // bytes that were resident at most
}

func (c *Client) report(state *os.ProcessState, wall time.Duration) {
	if c.cost == nil || state == nil {
		return
	}
	cost := Cost{Wall: wall, CPU: state.UserTime() + state.SystemTime()}
	if usage, ok := state.SysUsage().(*syscall.Rusage); ok {
		cost.Memory = usage.Maxrss << 10
	}
	c.cost(cost)
}
