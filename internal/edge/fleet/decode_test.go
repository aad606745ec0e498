package fleet

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const ours = "sc-0a1b2c3d-6f1c9a52-7d1e-4f0a-9a58-3a4b5c6d7e8f"

func read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestADeviceIsRead(t *testing.T) {
	got, err := DecodeDevice(read(t, "device.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := Device{
		Name: "8m3k5q7v0c2d4f6g8h0j2k4m6n8p0q2r4s6t8u0v2c4d6e8f0g2h", ResourceVersion: "91", RenderedVersion: "12",
		Labels:       map[string]string{"alias": "pump-7", "site": "north", "rack/slot": "4"},
		Applications: []Entry{{Name: ours}, {}, {Name: "logger"}},
		Config:       []Entry{{Name: "motd"}, {Name: ours}, {Name: "site"}},
		Status: Status{
			ReportedVersion: "11", Lifecycle: "Enrolled",
			Summary:   Word{Online, "Device's system resources are healthy."},
			Updated:   Word{"Updating", "Device is updating to the latest device spec."},
			Updating:  Condition{"True", "ApplyingUpdate", "[2026-11-17 09:20:01] While Preparing: prefetch failed for imagehub.example.com/none:1: service unavailable (network issue)"},
			SpecValid: Condition{"True", "Valid", ""},
			Applications: []Application{
				{Name: ours, Status: AppRunning, Ready: 1, Of: 1, Restarts: 2},
				{Name: "logger", Status: AppStarting, Ready: 1, Of: 2},
			},
			System: System{OperatingSystem: "linux", Architecture: "arm64", Cores: 4, MemoryKiB: 7996856},
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Entry{}, "Raw")); diff != "" {
		t.Errorf("device (-want +got):\n%s", diff)
	}
	if e, is := Find(got.Applications, ours); !is || !strings.Contains(string(e.Raw), "podman-compose.yaml") || Has(got.Applications, "none") || !Has(got.Config, "motd") {
		t.Errorf("%t, %s", is, e.Raw)
	}
	if _, is := got.Status.Reported("none"); is {
		t.Error("what is not there is reported")
	}
}

// What is missing is not there, and what has another form than today is not known; neither hides the rest.
func TestWhatADeviceMayLack(t *testing.T) {
	for text, want := range map[string]Device{
		`{"metadata":{"name":"a"}}`:                           {Name: "a"},
		`{"metadata":{"name":"a"},"spec":null,"status":null}`: {Name: "a"},
		`{"metadata":{"name":"a","owner":"Fleet/pumps","annotations":{"device-controller/awaitingReconnect":"true"}}}`:                          {Name: "a", Owner: "Fleet/pumps", AwaitingReconnect: true},
		`{"metadata":{"name":"a","annotations":{"device-controller/conflictPaused":"true","device-controller/awaitingReconnect":"false"}}}`:     {Name: "a", ConflictPaused: true},
		`{"metadata":{"name":"a"},"spec":{"decommissioning":{"target":"Unenroll"}}}`:                                                            {Name: "a", Decommissioning: true},
		`{"metadata":{"name":"a"},"spec":{"decommissioning":null,"applications":null}}`:                                                         {Name: "a"},
		`{"metadata":{"name":"a"},"spec":{"applications":["odd",{"name":5},{"name":"b"}]}}`:                                                     {Name: "a", Applications: []Entry{{}, {}, {Name: "b"}}},
		`{"metadata":{"name":"a"},"status":{"systemInfo":{"cpuCores":4,"memoryTotalKb":"many"}}}`:                                               {Name: "a", Status: Status{System: System{Cores: 4}}},
		`{"metadata":{"name":"a"},"status":{"systemInfo":{"cpuCores":"-4","memoryTotalKb":null}}}`:                                              {Name: "a"},
		`{"metadata":{"name":"a"},"status":{"applications":[{"name":"b","ready":"-1/2","restarts":-3},{"name":"c","ready":"1"},{"ready":""}]}}`: {Name: "a", Status: Status{Applications: []Application{{Name: "b"}, {Name: "c"}, {}}}},
	} {
		got, err := DecodeDevice([]byte(text))
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Entry{}, "Raw")); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
	for _, text := range []string{``, `null`, `[]`, `{}`, `{"metadata":{}}`, `<html>`, `{"metadata":{"name":"a"},"spec":5}`, `{"metadata":{"name":"a"},"status":{"applications":{}}}`} {
		if d, err := DecodeDevice([]byte(text)); !errors.Is(err, ErrUnread) || d.Name != "" {
			t.Errorf("%s is device %+v, %v", text, d, err)
		}
	}
}

func TestAPageIsRead(t *testing.T) {
	page, err := DecodePage([]byte(`{"kind":"DeviceList","metadata":{"continue":"abc","remainingItemCount":3},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"odd"},"spec":[]},5,{"metadata":{"name":"b"}}]}`))
	if err != nil || len(page.Devices) != 2 || page.Devices[1].Name != "b" || page.Continue != "abc" || cmp.Diff([]string{"odd", ""}, page.Unread) != "" {
		t.Errorf("%+v, %v", page, err)
	}
	if page, err = DecodePage([]byte(`{"items":[],"metadata":{}}`)); err != nil || len(page.Devices) != 0 || page.Continue != "" {
		t.Errorf("%+v, %v", page, err)
	}
	// An answer of something else must not look as if all devices were gone.
	for _, text := range []string{``, `{}`, `null`, `[]`, `{"items":null}`, `{"items":{}}`, `<html>`} {
		if page, err := DecodePage([]byte(text)); !errors.Is(err, ErrUnread) {
			t.Errorf("%s is %+v, %v", text, page, err)
		}
	}
}

func TestLastSeen(t *testing.T) {
	at, err := DecodeLastSeen([]byte(`{"lastSeen":"2026-11-17T09:20:01.5Z"}`))
	if err != nil || !at.Equal(time.Date(2026, 11, 17, 9, 20, 1, 500_000_000, time.UTC)) {
		t.Errorf("%s, %v", at, err)
	}
	if _, err := DecodeLastSeen([]byte(`{"lastSeen":"yesterday"}`)); !errors.Is(err, ErrUnread) {
		t.Error(err)
	}
}

// Whatever is answered, a decoder says what it is or that it cannot read it; and what it reads it reads again.
func FuzzDecode(f *testing.F) {
	f.Add(string(read(f, "device.json")))
	f.Add(`{"items":[{"metadata":{"name":"a"}}]}`)
	f.Add(`{"lastSeen":"2026-11-17T09:20:01Z"}`)
	f.Add(`{"metadata":{"name":"a"},"status":{"applications":[{"ready":"1/1"}],"systemInfo":{"cpuCores":"4"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := DecodeDevice([]byte(text))
		if (err == nil) != (d.Name != "") {
			t.Errorf("%+v, %v", d, err)
		}
		for _, a := range d.Status.Applications {
			if a.Ready < 0 || a.Of < 0 || a.Restarts < 0 {
				t.Errorf("%+v", a)
			}
		}
		if _, err := json.Marshal(d); err != nil {
			t.Error(err)
		}
		if page, err := DecodePage([]byte(text)); err == nil && json.Valid([]byte(text)) {
			for _, d := range page.Devices {
				if d.Name == "" {
					t.Error("a device without a name")
				}
			}
		}
		_, _ = DecodeLastSeen([]byte(text))
		_, _ = DecodeRendered([]byte(text))
	})
}
