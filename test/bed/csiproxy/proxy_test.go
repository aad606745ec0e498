package csiproxy_test

import (
	"context"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/statecraft-dev/statecraft/test/bed/csiproxy"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	soon     = timeout.Wait
	askEvery = 10 * time.Millisecond
	method   = "CreateSnapshot"
)

// driver counts what it has made; a call that refuses is answered with a code of its own.
type driver struct {
	csi.UnimplementedControllerServer
	made atomic.Int32
}

func (d *driver) CreateSnapshot(_ context.Context, r *csi.CreateSnapshotRequest) (*csi.CreateSnapshotResponse, error) {
	if r.GetName() == "" {
		return nil, status.Error(codes.InvalidArgument, "nameless")
	}
	d.made.Add(1)
	return &csi.CreateSnapshotResponse{Snapshot: &csi.Snapshot{SnapshotId: "of " + r.GetName()}}, nil
}

type rig struct {
	driver *driver
	proxy  *csiproxy.Proxy
	client csi.ControllerClient
}

func start(t *testing.T) rig {
	t.Helper()
	dir := t.TempDir()
	listener, err := net.Listen("unix", filepath.Join(dir, "driver"))
	if err != nil {
		t.Fatal(err)
	}
	d, server := &driver{}, grpc.NewServer()
	csi.RegisterControllerServer(server, d)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	proxy, err := csiproxy.Start(filepath.Join(dir, "proxy"), filepath.Join(dir, "driver"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	conn, err := grpc.NewClient("unix://"+proxy.Socket(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return rig{driver: d, proxy: proxy, client: csi.NewControllerClient(conn)}
}

// ask makes a snapshot and returns the code of the answer.
func (r rig) ask(ctx context.Context) codes.Code {
	_, err := r.client.CreateSnapshot(ctx, &csi.CreateSnapshotRequest{Name: "one", SourceVolumeId: "volume"})
	return status.Code(err)
}

func (r rig) expect(t *testing.T, made int32, answers ...codes.Code) {
	t.Helper()
	for i, want := range answers {
		if got := r.ask(t.Context()); got != want {
			t.Errorf("answer %d: %s, want %s", i+1, got, want)
		}
	}
	if got := r.driver.made.Load(); got != made {
		t.Errorf("the driver made %d, want %d", got, made)
	}
}

func TestCallsAndAnswersPassUnchanged(t *testing.T) {
	r := start(t)
	answer, err := r.client.CreateSnapshot(t.Context(), &csi.CreateSnapshotRequest{Name: "one"})
	if err != nil || answer.GetSnapshot().GetSnapshotId() != "of one" {
		t.Errorf("answer %v, %v", answer, err)
	}
	_, err = r.client.CreateSnapshot(t.Context(), &csi.CreateSnapshotRequest{})
	if s := status.Convert(err); s.Code() != codes.InvalidArgument || s.Message() != "nameless" {
		t.Errorf("refusal %v", err)
	}
	_, err = r.client.DeleteSnapshot(t.Context(), &csi.DeleteSnapshotRequest{})
	if status.Code(err) != codes.Unimplemented {
		t.Errorf("what the driver does not have: %v", err)
	}
	if n := r.proxy.Calls(method); n != 2 {
		t.Errorf("%d calls, want 2", n)
	}
}

func TestAFailedCallNeverReachesTheDriver(t *testing.T) {
	r := start(t)
	r.proxy.Fail(method, codes.ResourceExhausted, 2)
	r.expect(t, 1, codes.ResourceExhausted, codes.ResourceExhausted, codes.OK)
	r.proxy.Fail(method, codes.Internal, csiproxy.Always)
	r.expect(t, 1, codes.Internal, codes.Internal, codes.Internal)
	r.proxy.Clear()
	r.expect(t, 2, codes.OK)
}

func TestALostAnswerIsOfACallThatWasApplied(t *testing.T) {
	r := start(t)
	r.proxy.Lose(method, codes.DeadlineExceeded, 1)
	r.expect(t, 2, codes.DeadlineExceeded, codes.OK)
}

func TestAHeldCallIsAppliedWhenReleasedThoughItsCallerGaveUp(t *testing.T) {
	r := start(t)
	release := r.proxy.Hold(method)
	ctx, giveUp := context.WithCancel(t.Context())
	answer := make(chan codes.Code, 1)
	go func() { answer <- r.ask(ctx) }()
	eventually(t, "the call", func() bool { return r.proxy.Calls(method) == 1 })
	giveUp()
	if code := <-answer; code != codes.Canceled {
		t.Errorf("answer to who gave up: %s", code)
	}
	if n := r.driver.made.Load(); n != 0 {
		t.Errorf("a held call has reached the driver: %d", n)
	}
	release()
	eventually(t, "the held call to be applied", func() bool { return r.driver.made.Load() == 1 })
	r.expect(t, 2, codes.OK)
}

func TestASlowCallIsLate(t *testing.T) {
	const delay = 50 * time.Millisecond
	r := start(t)
	r.proxy.Slow(method, delay)
	began := time.Now()
	r.expect(t, 1, codes.OK)
	if took := time.Since(began); took < delay {
		t.Errorf("answered after %s", took)
	}
}

func TestADeadDriverRefusesAndAnswersAgainOnceAlive(t *testing.T) {
	r := start(t)
	r.expect(t, 1, codes.OK)
	r.proxy.Dead()
	r.expect(t, 1, codes.Unavailable)
	if err := r.proxy.Alive(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "an answer", func() bool { return r.ask(t.Context()) == codes.OK })
}

func TestACallUnderWayIsCutOffWhenTheDriverDies(t *testing.T) {
	r := start(t)
	release := r.proxy.Hold(method)
	answer := make(chan codes.Code, 1)
	go func() { answer <- r.ask(t.Context()) }()
	eventually(t, "the call", func() bool { return r.proxy.Calls(method) == 1 })
	r.proxy.Dead()
	if code := <-answer; code != codes.Unavailable {
		t.Errorf("answer of a driver that died: %s", code)
	}
	release()
	eventually(t, "the call to be applied all the same", func() bool { return r.driver.made.Load() == 1 })
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), askEvery, soon, true, func(context.Context) (bool, error) {
		return done(), nil
	})
	if err != nil {
		t.Fatalf("wait for %s: %v", what, err)
	}
}
