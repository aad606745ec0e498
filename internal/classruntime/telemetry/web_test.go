package telemetry

import (
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A token is read anew for every query: it is replaced while the manager runs.
func TestTokensAreReadAnew(t *testing.T) {
	s := newServer(t, usual)
	file := write(t, "token", "one\n")
	client := newClient(t, Config{URL: s.URL, TokenFile: file})
	for _, token := range []string{"one", "two"} {
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Look(t.Context(), []Subject{ours}); err != nil {
			t.Fatal(err)
		}
		if got := s.header.Get("Authorization"); got != "Bearer "+token {
			t.Errorf("it said %q", got)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	s.asked()
	if _, err := client.Look(t.Context(), []Subject{ours}); !errors.Is(err, ErrUnavailable) || len(s.asked()) > 0 {
		t.Errorf("without its token it asks: %v", err)
	}
}

func TestAuthorities(t *testing.T) {
	s := &server{answers: usual}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it would tell of clients that do not trust it
	s.StartTLS()
	defer s.Close()
	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	if _, err := newClient(t, Config{URL: s.URL}).Look(t.Context(), []Subject{ours}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("an unknown authority is trusted: %v", err)
	}
	if _, err := newClient(t, Config{URL: s.URL, CAFile: write(t, "ca", authority)}).Look(t.Context(), []Subject{ours}); err != nil {
		t.Error(err)
	}
}

func TestConfigurationsAreRefused(t *testing.T) {
	for name, c := range map[string]Config{
		"no address":                  {},
		"a password is not told":      {URL: "ftp://user:hunter2@prometheus"},
		"no host":                     {URL: "http://"},
		"no URL":                      {URL: "http://%"},
		"no file of the authority":    {URL: "http://prometheus", CAFile: "/no/such/file"},
		"no authority in it":          {URL: "http://prometheus", CAFile: write(t, "ca", "x")},
		"too few samples in a window": {URL: "http://prometheus", Window: 44 * time.Second},
		"no interval":                 {URL: "http://prometheus", Interval: -1},
	} {
		if c.Window == 0 {
			c.Window = time.Minute
		}
		if c.Interval == 0 {
			c.Interval = 15 * time.Second
		}
		if _, err := NewClient(c, time.Now); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
