package flightctl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
)

// server answers as Flight Control does, as far as the client can see it.
type server struct {
	mu       sync.Mutex
	devices  map[string]map[string]any
	requests []string
	// before is asked about each request, and answers instead if it says so.
	before func(w http.ResponseWriter, r *http.Request) (answered bool)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.RequestURI())
	if r.Header.Get("Authorization") != "Bearer secret" {
		s.fail(w, 401, "token is not valid")
		return
	}
	if s.before != nil && s.before(w, r) {
		return
	}
	name := strings.TrimPrefix(r.URL.Path, "/api/v1/devices/")
	d, is := s.devices[name]
	switch {
	case r.Method == http.MethodPut:
		s.put(w, r, name, d)
	case !is:
		s.fail(w, 404, "Device of name \""+name+"\" not found")
	case r.Method == http.MethodDelete:
		delete(s.devices, name)
		w.WriteHeader(200)
	default:
		s.give(w, 200, d)
	}
}

func (s *server) put(w http.ResponseWriter, r *http.Request, name string, was map[string]any) {
	var in map[string]any
	body, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(body, &in); err != nil {
		s.fail(w, 400, err.Error())
		return
	}
	metadata := in["metadata"].(map[string]any)
	if was == nil {
		in["status"] = map[string]any{}
		metadata["resourceVersion"] = "1"
		s.devices[name] = in
		s.give(w, 201, in)
		return
	}
	now := was["metadata"].(map[string]any)
	if now["owner"] != nil || now["resourceVersion"] != metadata["resourceVersion"] {
		s.fail(w, 409, "no")
		return
	}
	was["spec"] = in["spec"]
	s.changed(name)
	s.give(w, 200, was)
}

// changed is what every report of an agent does.
func (s *server) changed(name string) {
	m := s.devices[name]["metadata"].(map[string]any)
	version, _ := strconv.Atoi(m["resourceVersion"].(string))
	m["resourceVersion"] = strconv.Itoa(version + 1)
}

func (s *server) give(w http.ResponseWriter, code int, v any) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

func (s *server) fail(w http.ResponseWriter, code int, message string) {
	s.give(w, code, map[string]any{"code": code, "message": message})
}

func (s *server) count(method string) (n int) {
	for _, r := range s.requests {
		if strings.HasPrefix(r, method+" ") {
			n++
		}
	}
	return n
}

var noon = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)

func start(t *testing.T) (*server, *Client) {
	t.Helper()
	s := &server{devices: map[string]map[string]any{"pump": {
		"metadata": map[string]any{"name": "pump", "resourceVersion": "7"}, "spec": map[string]any{"os": map[string]any{"image": "a"}},
		"status": map[string]any{"systemInfo": map[string]any{"architecture": "arm64"}},
	}}}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return s, New(h.URL+"/", h.Client().Transport, func() (string, error) { return "secret", nil }, func() time.Time { return noon })
}

func add(name string) Decide {
	return func(fleet.Device) (fleet.Edit, error) {
		return fleet.Edit{Applications: map[string]json.RawMessage{name: json.RawMessage(`{"name":"` + name + `"}`)}}, nil
	}
}

func (s *server) applications() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, _ := json.Marshal(s.devices["pump"])
	d, _ := fleet.DecodeDevice(raw)
	for _, e := range d.Applications {
		names = append(names, e.Name)
	}
	return names
}

func TestDevicesAreListedPageByPage(t *testing.T) {
	s, c := start(t)
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		next := map[string]string{"": "more", "more": ""}[r.URL.Query().Get("continue")]
		fmt.Fprintf(w, `{"items":[{"metadata":{"name":"a%s"}}],"metadata":{"continue":%q}}`, next, next)
		return true
	}
	first, err := c.List(t.Context(), "site=north", "")
	if err != nil || first.Continue != "more" || first.Devices[0].Name != "amore" {
		t.Fatalf("%+v, %v", first, err)
	}
	last, err := c.List(t.Context(), "site=north", first.Continue)
	if err != nil || last.Continue != "" || !slices.Equal(s.requests, []string{
		"GET /api/v1/devices?labelSelector=site%3Dnorth&limit=1000", "GET /api/v1/devices?continue=more&labelSelector=site%3Dnorth&limit=1000",
	}) {
		t.Errorf("%+v, %v, %q", last, err, s.requests)
	}
}

func TestADeviceIsEditedByTwoRequests(t *testing.T) {
	s, c := start(t)
	if err := c.Edit(t.Context(), "pump", add("sc-1")); err != nil || !slices.Equal(s.applications(), []string{"sc-1"}) || len(s.requests) != 2 {
		t.Errorf("%v, %v, %q", err, s.applications(), s.requests)
	}
	if err := c.Edit(t.Context(), "pump", add("sc-1")); err != nil || s.count("PUT") != 1 {
		t.Errorf("%v: what is there is written again: %q", err, s.requests)
	}
	no := errors.New("another pod is on its way")
	if err := c.Edit(t.Context(), "pump", func(fleet.Device) (fleet.Edit, error) { return fleet.Edit{}, no }); !errors.Is(err, no) || s.count("PUT") != 1 {
		t.Errorf("%v, %q", err, s.requests)
	}
}

// Twenty at once: of twenty patches one would have survived.
func TestEditsAtOnceLoseNothing(t *testing.T) {
	s, c := start(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			for {
				err := c.Edit(t.Context(), "pump", add(fmt.Sprintf("sc-%02d", i)))
				if errors.Is(err, fleet.ErrStale) {
					continue
				}
				if err != nil {
					t.Error(err)
				}
				return
			}
		})
	}
	all.Wait()
	if names := s.applications(); len(names) != 20 {
		t.Errorf("%d are there: %v", len(names), names)
	}
}

func TestAnEditIsDecidedAnewIfTheDeviceHasChanged(t *testing.T) {
	s, c := start(t)
	var seen []string
	err := c.Edit(t.Context(), "pump", func(now fleet.Device) (fleet.Edit, error) {
		if seen = append(seen, now.ResourceVersion); len(seen) < 3 {
			s.mu.Lock()
			s.changed("pump")
			s.mu.Unlock()
		}
		return add("sc-1")(now)
	})
	if err != nil || !slices.Equal(seen, []string{"7", "8", "9"}) || !slices.Equal(s.applications(), []string{"sc-1"}) {
		t.Errorf("%v, decided upon %v", err, seen)
	}
	err = c.Edit(t.Context(), "pump", func(now fleet.Device) (fleet.Edit, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed("pump")
		return add("sc-2")(now)
	})
	if !errors.Is(err, fleet.ErrStale) {
		t.Errorf("a device that never rests: %v", err)
	}
}

func TestAFleetsDeviceIsNotEdited(t *testing.T) {
	s, c := start(t)
	var owned *fleet.Owned
	capture := func() { s.devices["pump"]["metadata"].(map[string]any)["owner"] = "Fleet/pumps" }
	err := c.Edit(t.Context(), "pump", func(now fleet.Device) (fleet.Edit, error) { // captured after it was read
		s.mu.Lock()
		defer s.mu.Unlock()
		capture()
		return add("sc-1")(now)
	})
	if !errors.As(err, &owned) || owned.Owner != "Fleet/pumps" || s.count("PUT") != 1 {
		t.Errorf("%v, %q", err, s.requests)
	}
	if err := c.Edit(t.Context(), "pump", add("sc-1")); !errors.As(err, &owned) || s.count("PUT") != 1 {
		t.Errorf("one that is known to be owned is written: %v, %q", err, s.requests)
	}
}

// An edit of a device that was deleted meanwhile makes one without an agent, which goes again.
func TestAGhostGoesAgain(t *testing.T) {
	vanish := func(s *server) Decide {
		return func(now fleet.Device) (fleet.Edit, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.devices, "pump")
			return add("sc-1")(now)
		}
	}
	s, c := start(t)
	if err := c.Edit(t.Context(), "pump", vanish(s)); !errors.Is(err, fleet.ErrGhost) || len(s.devices) != 0 {
		t.Errorf("%v, %v are there", err, s.devices)
	}
	s, c = start(t)
	s.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete {
			s.fail(w, 403, "not yours to delete")
		}
		return r.Method == http.MethodDelete
	}
	if err := c.Edit(t.Context(), "pump", vanish(s)); !errors.Is(err, fleet.ErrGhost) || !errors.Is(err, fleet.ErrDenied) {
		t.Errorf("that it stays is not told: %v", err)
	}
	s, c = start(t)
	s.before = func(_ http.ResponseWriter, r *http.Request) bool { // its agent enrolls just then
		if d := s.devices["pump"]; r.Method == http.MethodGet && d != nil && s.count("PUT") > 0 {
			d["status"] = map[string]any{"systemInfo": map[string]any{"architecture": "arm64"}}
		}
		return false
	}
	if err := c.Edit(t.Context(), "pump", vanish(s)); !errors.Is(err, fleet.ErrGhost) || len(s.devices) != 1 {
		t.Errorf("a device with an agent is deleted: %v", err)
	}
	s, c = start(t)
	if err := c.Edit(t.Context(), "valve", add("sc-1")); !errors.Is(err, fleet.ErrGone) || s.count("PUT") != 0 {
		t.Errorf("what never was is made: %v, %q", err, s.requests)
	}
}

// After a refusal for too many requests none is made before its time.
func TestNoRequestBeforeItsTime(t *testing.T) {
	s, c := start(t)
	s.before = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set(fleet.LimitHeader, "300")
		w.Header().Set(fleet.RemainingHeader, "0")
		w.Header().Set(fleet.RetryAfterHeader, "60")
		s.fail(w, 429, "too many")
		return true
	}
	var limited *fleet.Limited
	if _, err := c.Get(t.Context(), "pump"); !errors.As(err, &limited) || limited.After != time.Minute {
		t.Fatal(err)
	}
	c.now = func() time.Time { return noon.Add(50 * time.Second) }
	if _, err := c.Get(t.Context(), "pump"); !errors.As(err, &limited) || limited.After != 10*time.Second || len(s.requests) != 1 {
		t.Errorf("%v, %q", err, s.requests)
	}
	s.before, c.now = nil, func() time.Time { return noon.Add(time.Minute) }
	if _, err := c.Get(t.Context(), "pump"); err != nil {
		t.Error(err)
	}
}

func TestWhatIsAnswered(t *testing.T) {
	s, c := start(t)
	answer := func(code int, body string) {
		s.before = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Location", "http://elsewhere.example/")
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
			return true
		}
	}
	answer(409, `{"message":"no rendered version for device"}`)
	if _, err := c.Rendered(t.Context(), "pump"); !errors.Is(err, fleet.ErrNotRendered) {
		t.Error(err)
	}
	answer(204, "")
	if at, is, err := c.LastSeen(t.Context(), "pump"); err != nil || is || !at.IsZero() {
		t.Errorf("%s, %t, %v", at, is, err)
	}
	answer(200, `{"lastSeen":"2026-11-17T11:58:00Z"}`)
	if at, is, err := c.LastSeen(t.Context(), "pump"); err != nil || !is || !at.Equal(noon.Add(-2*time.Minute)) {
		t.Errorf("%s, %t, %v", at, is, err)
	}
	for code, want := range map[int]error{302: fleet.ErrUnreachable, 503: fleet.ErrUnreachable, 403: fleet.ErrDenied} {
		answer(code, "")
		if _, err := c.Get(t.Context(), "pump"); !errors.Is(err, want) {
			t.Errorf("%d: %v", code, err)
		}
	}
	answer(200, `{"metadata":{"name":"valve"}}`)
	if _, err := c.Get(t.Context(), "pump"); !errors.Is(err, fleet.ErrUnread) {
		t.Errorf("another device is taken for it: %v", err)
	}
	for _, r := range s.requests {
		if strings.Contains(r, "elsewhere") {
			t.Error("a redirect was followed")
		}
	}
}

func TestNoAnswerSaysNothing(t *testing.T) {
	h := httptest.NewServer(http.NotFoundHandler())
	h.Close()
	c := New(h.URL, http.DefaultTransport, func() (string, error) { return "secret", nil }, time.Now)
	if _, err := c.Get(t.Context(), "pump"); !errors.Is(err, fleet.ErrUnreachable) || errors.Is(err, fleet.ErrGone) {
		t.Error(err)
	}
	c = New(h.URL, http.DefaultTransport, func() (string, error) { return "", errors.New("no file") }, time.Now)
	if _, err := c.Get(t.Context(), "pump"); !errors.Is(err, fleet.ErrDenied) {
		t.Error(err)
	}
	if strings.Contains(fmt.Sprint(c.LastSeen(t.Context(), "pump")), "secret") {
		t.Error("the token is told")
	}
}
