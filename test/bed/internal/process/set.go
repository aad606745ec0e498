package process

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrUnknown says that no server of a Set has that name.
var ErrUnknown = errors.New("unknown server")

// Set is kept servers by their names. Each can be stopped, and started again.
type Set struct {
	logDir string

	mu      sync.Mutex
	servers map[string]*Kept
}

// NewSet makes a Set whose logs lie in a directory.
func NewSet(logDir string) *Set { return &Set{logDir: logDir, servers: map[string]*Kept{}} }

// Add starts a server and keeps it running until it is stopped.
func (s *Set) Add(command Command) (*Kept, error) {
	server := Keep(command, s.logDir)
	if err := server.Start(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servers[command.Name] = server
	return server, nil
}

// Stop kills a server and leaves it stopped.
func (s *Set) Stop(ctx context.Context, name string) error {
	server, err := s.find(name)
	if err != nil {
		return err
	}
	return server.Stop(ctx)
}

// Start starts a server that was stopped.
func (s *Set) Start(name string) error {
	server, err := s.find(name)
	if err != nil {
		return err
	}
	return server.Start()
}

func (s *Set) find(name string) (*Kept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	server, is := s.servers[name]
	if !is {
		return nil, fmt.Errorf("%w %q", ErrUnknown, name)
	}
	return server, nil
}

// PIDs adds the processes that run now, by their names. There are none of a Set that is nil.
func (s *Set) PIDs(ids map[string]int) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, server := range s.servers {
		if pid, runs := server.PID(); runs {
			ids[name] = pid
		}
	}
}
