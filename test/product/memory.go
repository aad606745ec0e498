package product

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
)

var highWater = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// PeakMemory is the most memory that the process has ever had, in bytes.
func (m *Manager) PeakMemory() int64 {
	m.t.Helper()
	m.mu.Lock()
	pid := m.cmd.Process.Pid
	m.mu.Unlock()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		m.t.Fatal(err)
	}
	found := highWater.FindSubmatch(text)
	if found == nil {
		m.t.Fatalf("no peak in %s", text)
	}
	kib, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		m.t.Fatal(err)
	}
	return kib << 10
}
