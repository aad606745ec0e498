package child

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// The limits of a process that answers. policy.ProblemExceeded names the first two.
const (
	// Wall is how long it may run.
	Wall = 2 * time.Second
	// Memory is how much it may write to. The address space is not limited: Go reserves a lot of it.
	Memory = 256 << 20

	cpuSeconds  = 2       // it outlives a manager that is killed by no more than that
	maxQuestion = 4 << 20 // bytes
	maxReply    = 1 << 20 // bytes
	maxStderr   = 4 << 10 // bytes
	standard    = 3       // descriptors: stdin, stdout, stderr
	collectAt   = Memory * 5 / 8
	processors  = "2" // threads need memory, too
)

// limit bounds the process for good. It can open neither files nor connections any more, so a
// function that the list of functions should not have let through reaches nothing.
func limit() error {
	for _, l := range []struct {
		name     string
		resource int
		most     uint64
	}{
		{"memory", unix.RLIMIT_DATA, Memory},
		{"CPU time", unix.RLIMIT_CPU, cpuSeconds},
		{"core dumps", unix.RLIMIT_CORE, 0},
		{"descriptors", unix.RLIMIT_NOFILE, standard},
	} {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return fmt.Errorf("limit %s: %w", l.name, err)
		}
	}
	return nil
}
