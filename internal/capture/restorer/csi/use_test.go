package csi_test

import (
	"errors"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer/csi"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer/csi/csifake"
)

var plan = restorer.Plan{Driver: "disks.example.com", Name: "restore-r1", Snapshot: "snap-1", Bytes: 1 << 20}

func TestRestoreIsTheSameEveryTime(t *testing.T) {
	d := csifake.New("snap-1")
	first, err := csi.Restore(t.Context(), d, plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := csi.Restore(t.Context(), d, plan, nil)
	if err != nil || again.ID != first.ID || len(d.Volumes()) != 1 {
		t.Errorf("%+v, then %+v: %v", first, again, err)
	}
}

func TestAVolumeThatIsNotFromTheSnapshotIsDeleted(t *testing.T) {
	d := csifake.New("snap-1")
	d.Forgets = true
	_, err := csi.Restore(t.Context(), d, plan, nil)
	if !errors.As(err, new(*restorer.Failure)) || len(d.Volumes()) > 0 {
		t.Errorf("%v, and there are %v", err, d.Volumes())
	}
}

func TestOnlyAnAnswerIsAFailure(t *testing.T) {
	for code, tells := range map[codes.Code]bool{
		codes.ResourceExhausted: true, codes.Internal: true, codes.InvalidArgument: true, codes.Unknown: true,
		codes.Aborted: false, codes.DeadlineExceeded: false, codes.Unavailable: false, codes.Canceled: false,
	} {
		d := csifake.New("snap-1")
		d.Fail = func(restorer.Plan) error { return status.Error(code, "no") }
		_, err := csi.Restore(t.Context(), d, plan, nil)
		if err == nil || errors.As(err, new(*restorer.Failure)) != tells {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func TestDiscard(t *testing.T) {
	fails := func(code codes.Code) func(*csifake.Driver) {
		return func(f *csifake.Driver) { f.Fail = func(restorer.Plan) error { return status.Error(code, "no") } }
	}
	for what, c := range map[string]struct {
		made   bool
		change func(*csifake.Driver)
		err    bool
		left   int
	}{
		"a volume that is there":                {true, func(*csifake.Driver) {}, false, 0},
		"one that was never made":               {false, func(*csifake.Driver) {}, false, 0},
		"the snapshot is gone as well":          {true, func(f *csifake.Driver) { f.Forget("snap-1") }, false, 0},
		"neither was ever there":                {false, func(f *csifake.Driver) { f.Forget("snap-1") }, false, 0},
		"the plan makes no sense to the driver": {false, fails(codes.OutOfRange), false, 0},
		"the driver is asked too often":         {true, fails(codes.ResourceExhausted), true, 1},
		"the driver is still at it":             {true, fails(codes.Aborted), true, 1},
		"the driver is out of reach":            {true, fails(codes.Unavailable), true, 1},
		"an error that says nothing":            {true, fails(codes.Internal), true, 1},
		"a volume of that name is another one":  {true, fails(codes.AlreadyExists), true, 1},
	} {
		t.Run(what, func(t *testing.T) {
			d := csifake.New("snap-1")
			if c.made {
				if _, err := csi.Restore(t.Context(), d, plan, nil); err != nil {
					t.Fatal(err)
				}
			}
			c.change(d)
			err := csi.Discard(t.Context(), d, plan, nil)
			if (err != nil) != c.err || len(d.Volumes()) != c.left {
				t.Errorf("error %v, left %v", err, d.Volumes())
			}
		})
	}
}
