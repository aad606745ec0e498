// Package audit reads who wrote what from the API server's audit log.
package audit

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// pollEvery is how often the log is read again while a write that was begun has not been logged as done.
const pollEvery = 20 * time.Millisecond

// Write is one write that the API server has answered.
type Write struct {
	Time        time.Time // when the request came in, to the microsecond
	User        string
	Verb        string
	Group       string
	Resource    string
	Subresource string
	Namespace   string
	Name        string
	Code        int32
	UserAgent   string
}

// Log reads one audit log, each line once.
type Log struct {
	path    string
	mu      sync.Mutex
	offset  int64
	pending map[string]struct{}
	writes  []Write
}

// Open makes a reader of the log at path, which need not exist yet.
func Open(path string) *Log {
	return &Log{path: path, pending: map[string]struct{}{}}
}

// Writes returns the writes whose requests came in at or after since, oldest answer first. The API server
// answers a client a moment before it logs that it did; so this waits until every write that was begun when it
// was called has been logged as done, or ctx ends.
func (l *Log) Writes(ctx context.Context, since time.Time) ([]Write, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.read(); err != nil {
		return nil, err
	}
	begun := make([]string, 0, len(l.pending))
	for id := range l.pending {
		begun = append(begun, id)
	}
	for l.anyPending(begun) {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for writes under way: %w", ctx.Err())
		case <-time.After(pollEvery):
		}
		if err := l.read(); err != nil {
			return nil, err
		}
	}
	return l.after(since.Truncate(time.Microsecond)), nil
}

func (l *Log) anyPending(ids []string) bool {
	for _, id := range ids {
		if _, pending := l.pending[id]; pending {
			return true
		}
	}
	return false
}

func (l *Log) after(since time.Time) []Write {
	var found []Write
	for _, write := range l.writes {
		if !write.Time.Before(since) {
			found = append(found, write)
		}
	}
	return found
}

// read takes in the lines that were added since the last call.
func (l *Log) read() error {
	file, err := os.Open(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open audit log: %w", err)
	}
	defer func() { _ = file.Close() }()
	if _, err := file.Seek(l.offset, io.SeekStart); err != nil {
		return fmt.Errorf("seek audit log: %w", err)
	}
	reader := bufio.NewReader(file)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // a line without an end is still being written
		}
		if err != nil {
			return fmt.Errorf("read audit log: %w", err)
		}
		l.offset += int64(len(line))
		if err := l.take(bytes.TrimSpace(line)); err != nil {
			return err
		}
	}
}

// event is the part of an audit event that a Write is made of.
type event struct {
	AuditID    string
	Stage      string
	RequestURI string
	Verb       string
	User       struct{ Username string }
	UserAgent  string
	ObjectRef  struct {
		APIGroup, Resource, Subresource, Namespace, Name string
	}
	RequestObject            struct{ DryRun []string }
	ResponseStatus           struct{ Code int32 }
	RequestReceivedTimestamp time.Time
}

func (e event) dryRun() bool {
	return len(e.RequestObject.DryRun) > 0 || strings.Contains(e.RequestURI, "dryRun=")
}

// isWrite says that the request stores something unless it is a dry run. A log may have reads and access reviews, too.
func (e event) isWrite() bool {
	switch e.ObjectRef.APIGroup {
	case "authentication.k8s.io", "authorization.k8s.io":
		return false
	}
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb)
}

func (l *Log) take(line []byte) error {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("parse audit event: %w", err)
	}
	if !e.isWrite() {
		return nil
	}
	if e.Stage == "RequestReceived" {
		l.pending[e.AuditID] = struct{}{}
		return nil
	}
	delete(l.pending, e.AuditID)
	if e.Stage != "ResponseComplete" || e.dryRun() {
		return nil
	}
	l.writes = append(l.writes, Write{
		Time: e.RequestReceivedTimestamp, User: e.User.Username, Verb: e.Verb,
		Group: e.ObjectRef.APIGroup, Resource: e.ObjectRef.Resource, Subresource: e.ObjectRef.Subresource,
		Namespace: e.ObjectRef.Namespace, Name: e.ObjectRef.Name,
		Code: e.ResponseStatus.Code, UserAgent: e.UserAgent,
	})
	return nil
}
