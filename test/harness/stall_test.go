package harness

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// crowd is how many want each processor at once, each for a hundredth of a second at a time.
const crowd = 16

func TestAStallIsFelt(t *testing.T) {
	s := StartStall(t)
	until := time.Now().Add(time.Second)
	var busy sync.WaitGroup
	for range crowd * runtime.GOMAXPROCS(0) {
		busy.Go(func() {
			for time.Now().Before(until) {
			}
		})
	}
	busy.Wait()
	late := s.Lap()
	if late < time.Second/4 {
		t.Errorf("late by %s in a second in which all processors were busy", late)
	}
	if again := s.Lap(); again >= late {
		t.Errorf("a lap begins with the %s of the one before: %s", late, again)
	}
}
