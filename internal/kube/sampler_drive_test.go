package kube

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

func TestASamplerIsDrivenByHand(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var looked, woken []string
	value := 1
	s := &Sampler[int]{
		Take: func(_ context.Context, key read.Key) (int, error) {
			looked = append(looked, key.Name)
			return value, nil
		},
		Same: func(a, b int) bool { return a == b },
		Wake: func(key read.Key) { woken = append(woken, key.Name) },
		Now:  func() time.Time { return now },
	}
	if _, waits := s.Next(); waits || s.Drive(t.Context()) != 0 {
		t.Error("there is something to do before anything is sampled")
	}
	s.Every(read.Key{Name: "b"}, time.Second)
	s.Every(read.Key{Name: "a"}, time.Second)
	s.Every(read.Key{Name: "c"}, time.Minute)
	at, waits := s.Next()
	if !waits || !at.Equal(now.Add(time.Second)) || s.Drive(t.Context()) != 0 {
		t.Errorf("the next look is due at %s", at)
	}
	for range 2 { // the second sees nothing new, and wakes nobody
		now = now.Add(time.Second)
		if polled := s.Drive(t.Context()); polled != 2 {
			t.Errorf("polled %d, not 2", polled)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "a", "b"}, looked); diff != "" {
		t.Errorf("looked: %s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, woken); diff != "" {
		t.Errorf("woken: %s", diff)
	}
}
