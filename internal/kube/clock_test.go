package kube

import (
	"testing/synctest"
	"time"
)

// elapse lets time pass in a bubble of synctest, where that takes no time, and
// then everything that became due.
func elapse(d time.Duration) {
	last(d)
	synctest.Wait()
}

// last takes so long on the bubble's clock.
func last(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // on the bubble's clock, not the wall's
}
