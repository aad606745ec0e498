package kube

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A look is repeated until the process no longer leads, sooner after a failure, which counts.
func TestLooksAreRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		var looks []time.Duration
		err := repeat(ctx, t.Name(), time.Minute, func(context.Context) error {
			looks = append(looks, time.Since(began))
			switch len(looks) {
			case 2:
				return errors.New("nothing to be seen")
			case 4:
				cancel()
				return ctx.Err()
			}
			return nil
		})
		want := []time.Duration{0, time.Minute, time.Minute + lookAgain, 2*time.Minute + lookAgain}
		if diff := cmp.Diff(want, looks); diff != "" || err != nil {
			t.Error(diff, err)
		}
		if n := metricOf(t, metricLookErrors.WithLabelValues(t.Name())); n != 1 {
			t.Errorf("%v failures are counted", n)
		}
	})
}
