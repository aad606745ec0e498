package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/bed/internal/filelock"
	"github.com/statecraft-dev/statecraft/test/bed/internal/process"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

const (
	// superviseCommand is what up runs itself as again.
	superviseCommand = "supervise"
	supervisorLog    = "supervisor.log"
	readyLine        = "ready"
	// progressFile is the descriptor up listens on.
	progressFile = 3
)

// supervise holds a cluster until it is told to end. Every server dies with it, so the cluster has one process to
// end and none that can be forgotten.
func supervise(ctx context.Context, o options) error {
	progress := os.NewFile(progressFile, "progress")
	parts.Progress = progress
	lock, err := filelock.Try(o.path("lock"))
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	self, err := process.Identify(os.Getpid())
	if err != nil {
		return err
	}
	s := state{Supervisor: self, Nodes: o.nodes, Since: time.Now()}
	if err := s.save(o); err != nil {
		return err
	}
	b, err := start(ctx, o)
	if err != nil {
		return errors.Join(err, os.Remove(o.path("state.json")))
	}
	if err := publish(b, s, o); err != nil {
		return errors.Join(err, b.Stop())
	}
	fmt.Fprintln(progress, readyLine)
	_ = progress.Close()
	parts.Progress = os.Stderr
	<-ctx.Done()
	return b.Stop()
}

func start(ctx context.Context, o options) (*bed.Bed, error) {
	wanted := []bed.Part{bed.ControlPlane}
	if o.nodes > 0 {
		wanted = append(wanted, bed.Nodes(o.nodes))
	}
	if o.csi {
		wanted = append(wanted, bed.CSI)
	}
	b, err := bed.StartIn(ctx, o.path("cluster"), wanted...)
	if err != nil || o.nodes == 0 {
		return b, err
	}
	if err := b.LoadImages(ctx, images.All()...); err != nil {
		return nil, errors.Join(err, b.Stop())
	}
	return b, nil
}

func publish(b *bed.Bed, s state, o options) error {
	kube, err := parts.Dir(context.Background(), parts.Kube)
	if err != nil {
		return err
	}
	s.Kubeconfig, s.Kubectl, s.Ready = b.Kubeconfig(), filepath.Join(kube, "kubectl"), true
	if csi := b.CSI(); csi != nil {
		s.CSISocket = csi.Socket()
	}
	for _, node := range b.Nodes() {
		s.NodePIDs = append(s.NodePIDs, node.PID())
	}
	s.Servers = map[string]process.Identity{}
	for name, pid := range b.PIDs() {
		if s.Servers[name], err = process.Identify(pid); err != nil {
			return err
		}
	}
	return s.save(o)
}
