package edge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet/flightctl"
	"github.com/statecraft-dev/statecraft/internal/script"
	"github.com/statecraft-dev/statecraft/test/bed/devices"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func enrolled(t *testing.T, labels map[string]string) *devices.Device {
	t.Helper()
	enroller, err := devices.NewEnroller(t.Context(), control(t))
	must(t, err)
	device, err := enroller.Enroll(t.Context(), labels)
	must(t, err)
	return device
}

// comesTo fails unless a device comes to be so.
func comesTo(t *testing.T, c *flightctl.Client, name, what string, is func(fleet.Device) bool) {
	t.Helper()
	var last fleet.Device
	came := false
	must(t, script.Poll(timeout.Wait)(t.Context(), func() bool {
		now, err := c.Get(t.Context(), name)
		last, came = now, err == nil && is(now)
		return came
	}))
	if !came {
		t.Fatalf("it does not come to be %s: %+v", what, last)
	}
}

// What the agent is told to report is read into capacity; what it does not report is not known. The worker may write the status
// that it read before a report over that report, after each rendering; so agents, and this one, report again and again.
func TestADeviceIsReadAsItReports(t *testing.T) {
	south := "south-" + strconv.FormatInt(time.Now().UnixNano(), 36) // of no other device
	c, device := asks(t, control(t)), enrolled(t, map[string]string{"site": south})
	now, err := c.Get(t.Context(), device.Name)
	must(t, err)
	if now.Status.System.Cores != 0 || now.Status.System.Architecture != "amd64" || now.Labels["site"] != south || now.Owner != "" {
		t.Errorf("%+v", now)
	}
	comesTo(t, c, device.Name, "of 4 cores", func(d fleet.Device) bool {
		must(t, device.Report(t.Context(), devices.Report{System: map[string]string{"cpuCores": "4", "memoryTotalKb": "8000000"}}))
		return d.Status.System.Cores == 4 && d.Status.System.MemoryKiB == 8_000_000
	})
	page, err := c.List(t.Context(), "site="+south, "")
	if err != nil || len(page.Devices) != 1 || page.Devices[0].Name != device.Name || len(page.Unread) > 0 {
		t.Errorf("%+v, %v", page, err)
	}
	if budget := c.Budget(); budget.Limit != requests || budget.Remaining <= 0 || budget.Reset.Before(time.Now().Add(-time.Minute)) {
		t.Errorf("the budget is read as %+v", budget)
	}
}

// The server's own verdict, in its own words: a device that is not heard is Unknown, and Online once it is heard again. It is
// heard when it asks what was rendered for it; a report alone does not count.
func TestASilentDeviceIsUnknown(t *testing.T) {
	c, device := asks(t, control(t)), enrolled(t, nil)
	heard := func(d fleet.Device) bool { return d.Status.Summary.Status == fleet.Online }
	ask := func() {
		_, _, err := device.Fetch(t.Context())
		must(t, err)
	}
	ask()
	comesTo(t, c, device.Name, "online", heard)
	// Until the server has saved that it heard the device, it may take it for a silent one.
	comesTo(t, c, device.Name, "unknown, by what the server has saved", func(d fleet.Device) bool {
		at, is, err := c.LastSeen(t.Context(), device.Name)
		return err == nil && is && time.Since(at) >= disconnected && d.Status.Summary.Status == fleet.Unknown
	})
	at, is, err := c.LastSeen(t.Context(), device.Name)
	if err != nil || !is {
		t.Errorf("last seen %s, %t, %v", at, is, err)
	}
	t.Logf("unknown %s after it was last heard, by the server's clock; the limit is %s", time.Since(at).Round(time.Second/10), disconnected)
	ask()
	comesTo(t, c, device.Name, "online again", heard)
}

func TestEditsAtOnceLoseNothingOnTheServer(t *testing.T) {
	c, device := asks(t, control(t)), enrolled(t, nil)
	const pods = 20
	var all sync.WaitGroup
	for i := range pods {
		all.Go(func() {
			name := fmt.Sprintf("sc-%02d", i)
			raw := fmt.Sprintf(`{"appType":"compose","name":%q,"inline":[{"path":"podman-compose.yaml","content":"services: {main: {image: localhost/x:1}}"}]}`, name)
			edit := fleet.Edit{Applications: map[string]json.RawMessage{name: json.RawMessage(raw)}}
			for {
				err := c.Edit(t.Context(), device.Name, func(fleet.Device) (fleet.Edit, error) { return edit, nil })
				if errors.Is(err, fleet.ErrStale) {
					continue
				}
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				return
			}
		})
	}
	all.Wait()
	now, err := c.Get(t.Context(), device.Name)
	if err != nil || len(now.Applications) != pods {
		t.Errorf("%d of %d are there, %v", len(now.Applications), pods, err)
	}
}

func TestCredentialsThatAreNotValid(t *testing.T) {
	server := control(t)
	transport, err := server.Transport()
	must(t, err)
	defer transport.CloseIdleConnections()
	c := flightctl.New(server.URL(), transport, func() (string, error) { return "none", nil }, time.Now)
	if _, err := c.List(t.Context(), "", ""); !errors.Is(err, fleet.ErrDenied) {
		t.Error(err)
	}
	if _, err := asks(t, server).Get(t.Context(), "none"); !errors.Is(err, fleet.ErrGone) {
		t.Error(err)
	}
}
