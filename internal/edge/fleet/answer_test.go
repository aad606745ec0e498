package fleet

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestWhatAnswersMean(t *testing.T) {
	for code, want := range map[int]error{
		200: nil, 204: nil, 201: nil, 401: ErrDenied, 403: ErrDenied, 404: ErrGone, 409: ErrConflict, 408: ErrUnreachable, 500: ErrUnreachable, 502: ErrUnreachable, 503: ErrUnreachable, 302: ErrUnreachable,
	} {
		if err := ErrorOf(code, []byte(`{"message":"why"}`), 0); !errors.Is(err, want) || err != nil && !strings.Contains(err.Error(), "why") {
			t.Errorf("%d is %v", code, err)
		}
	}
	var refused *Refused
	if err := ErrorOf(400, []byte(`{"code":400,"message":"spec.config[0]: bad"}`), 0); !errors.As(err, &refused) || refused.Message != "spec.config[0]: bad" || refused.Code != 400 {
		t.Error(err)
	}
	var limited *Limited
	if err := ErrorOf(429, nil, 7*time.Second); !errors.As(err, &limited) || limited.After != 7*time.Second {
		t.Error(err)
	}
	if err := ErrorOf(429, nil, 0); !errors.As(err, &limited) || limited.After <= 0 {
		t.Error("it may be asked again at once:", err)
	}
	if err := ErrorOf(500, []byte("<html>"+strings.Repeat("x", 5000)), 0); len(err.Error()) > 200 {
		t.Error("a page of a proxy is passed on")
	}
	if err := ErrorOf(500, []byte(`{"message":"`+strings.Repeat("é", 5000)+`"}`), 0); len(err.Error()) > 2000 {
		t.Error("a long message is passed on")
	}
}

// Flight Control makes what it is asked to edit.
func TestAnEditThatMakesADeviceMadeAGhost(t *testing.T) {
	if err := EditErrorOf(201, nil, 0); !errors.Is(err, ErrGhost) {
		t.Error(err)
	}
	if err := EditErrorOf(200, nil, 0); err != nil {
		t.Error(err)
	}
	if err := EditErrorOf(409, nil, 0); !errors.Is(err, ErrConflict) {
		t.Error(err)
	}
}

// One answer has three reasons.
func TestWhyAnEditWasNotTaken(t *testing.T) {
	var owned *Owned
	if err := WhyConflict(Device{Name: "a", Owner: "Fleet/pumps"}); !errors.As(err, &owned) || owned.Owner != "Fleet/pumps" {
		t.Error(err)
	}
	if err := WhyConflict(Device{Name: "a", Decommissioning: true}); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	if err := WhyConflict(Device{Name: "a", ResourceVersion: "8"}); !errors.Is(err, ErrStale) {
		t.Error(err)
	}
}

func TestPaths(t *testing.T) {
	for got, want := range map[string]string{
		DevicesPath("site in (a,b)", "x+/=", 1000): "/api/v1/devices?continue=x%2B%2F%3D&labelSelector=site+in+%28a%2Cb%29&limit=1000",
		DevicesPath("", "", 10):                    "/api/v1/devices?limit=10",
		DevicePath("a/../b"):                       "/api/v1/devices/a%2F..%2Fb",
		RenderedPath("a"):                          "/api/v1/devices/a/rendered",
		LastSeenPath("a"):                          "/api/v1/devices/a/lastseen",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func headers(pairs ...string) func(string) string {
	h := http.Header{}
	for i := 0; i+1 < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h.Get
}

func TestTheBudgetIsWhatFlightControlSays(t *testing.T) {
	now := time.Unix(1_000, 0).UTC()
	var b Budget
	if b.Share(now) != 1 || b.Wait(now) != 0 {
		t.Errorf("what says nothing limits: %+v", b)
	}
	b = b.Next(200, headers(LimitHeader, "300", RemainingHeader, "60", ResetHeader, "1040"), now)
	if b.Share(now) != 0.2 || b.Wait(now) != 0 || !b.Reset.Equal(time.Unix(1_040, 0)) {
		t.Errorf("%+v", b)
	}
	if b.Share(now.Add(time.Minute)) != 1 {
		t.Error("the count does not begin anew")
	}
	if same := b.Next(502, headers(), now); same != b {
		t.Errorf("an answer that says nothing changed it: %+v", same)
	}
	b = b.Next(429, headers(LimitHeader, "300", RemainingHeader, "0", RetryAfterHeader, "60"), now)
	if b.Share(now) != 0 || b.Wait(now) != time.Minute || b.Wait(now.Add(59*time.Second)) != time.Second || b.Wait(now.Add(2*time.Minute)) != 0 {
		t.Errorf("%+v", b)
	}
	if b = (Budget{}).Next(429, headers(), now); b.Wait(now) <= 0 {
		t.Error("a refusal without a time does not count")
	}
	odd := (Budget{}).Next(200, headers(LimitHeader, "300", RemainingHeader, "-5", ResetHeader, "soon"), now)
	if odd.Share(now) != 0 {
		t.Errorf("%+v", odd)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 17, 9, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "5": 5 * time.Second, "-5": 0, "soon": 0, "Tue, 17 Nov 2026 09:01:00 GMT": time.Minute, "Tue, 17 Nov 2026 08:01:00 GMT": 0, "86400": time.Hour,
	} {
		if got := RetryAfter(value, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}
