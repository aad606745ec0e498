package maintenance

import (
	"testing"
	"time"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

func window(start, duration string, days ...valkeyv1.Weekday) valkeyv1.MaintenanceWindow {
	return valkeyv1.MaintenanceWindow{Days: days, Start: start, Duration: duration}
}

// In Vienna clocks are set forward on 2026-03-29 from 02:00 to 03:00, and back on 2026-10-25 from 03:00 to 02:00.
func TestWindows(t *testing.T) {
	night, weekend := window("02:00", "3h"), window("23:00", "4h", "Sat")
	for name, tc := range map[string]struct {
		zone    string
		windows []valkeyv1.MaintenanceWindow
		now     string // in UTC
		open    bool
		next    string // in UTC
	}{
		"at its start":                         {"UTC", []valkeyv1.MaintenanceWindow{night}, "2026-11-18T02:00:00Z", true, "2026-11-19T02:00:00Z"},
		"a second before":                      {"UTC", []valkeyv1.MaintenanceWindow{night}, "2026-11-18T01:59:59Z", false, "2026-11-18T02:00:00Z"},
		"a second before its end":              {"UTC", []valkeyv1.MaintenanceWindow{night}, "2026-11-18T04:59:59Z", true, "2026-11-19T02:00:00Z"},
		"at its end":                           {"UTC", []valkeyv1.MaintenanceWindow{night}, "2026-11-18T05:00:00Z", false, "2026-11-19T02:00:00Z"},
		"in another zone":                      {"Europe/Vienna", []valkeyv1.MaintenanceWindow{night}, "2026-11-18T01:00:00Z", true, "2026-11-19T01:00:00Z"},
		"in another zone, a second before":     {"Europe/Vienna", []valkeyv1.MaintenanceWindow{night}, "2026-11-18T00:59:59Z", false, "2026-11-18T01:00:00Z"},
		"in no zone":                           {"", []valkeyv1.MaintenanceWindow{night}, "2026-11-18T02:00:00Z", true, "2026-11-19T02:00:00Z"},
		"past midnight":                        {"UTC", []valkeyv1.MaintenanceWindow{weekend}, "2026-11-22T02:59:59Z", true, "2026-11-28T23:00:00Z"},
		"past midnight, at its end":            {"UTC", []valkeyv1.MaintenanceWindow{weekend}, "2026-11-22T03:00:00Z", false, "2026-11-28T23:00:00Z"},
		"past midnight, on another day":        {"UTC", []valkeyv1.MaintenanceWindow{weekend}, "2026-11-21T02:00:00Z", false, "2026-11-21T23:00:00Z"},
		"a day that is another one in UTC":     {"Pacific/Auckland", []valkeyv1.MaintenanceWindow{window("01:00", "1h", "Sun")}, "2026-11-21T12:30:00Z", true, "2026-11-28T12:00:00Z"},
		"for a whole day, to its end":          {"UTC", []valkeyv1.MaintenanceWindow{window("12:00", "24h", "Wed")}, "2026-11-19T11:59:59Z", true, "2026-11-25T12:00:00Z"},
		"the earliest of two":                  {"UTC", []valkeyv1.MaintenanceWindow{weekend, night}, "2026-11-18T12:00:00Z", false, "2026-11-19T02:00:00Z"},
		"one of two is open":                   {"UTC", []valkeyv1.MaintenanceWindow{night, weekend}, "2026-11-21T23:30:00Z", true, "2026-11-22T02:00:00Z"},
		"clocks set forward: before":           {"Europe/Vienna", []valkeyv1.MaintenanceWindow{window("02:30", "1h")}, "2026-03-29T01:29:59Z", false, "2026-03-29T01:30:00Z"},
		"clocks set forward: an hour later":    {"Europe/Vienna", []valkeyv1.MaintenanceWindow{window("02:30", "1h")}, "2026-03-29T01:30:00Z", true, "2026-03-30T00:30:00Z"},
		"clocks set forward: as long as ever":  {"Europe/Vienna", []valkeyv1.MaintenanceWindow{window("01:00", "3h")}, "2026-03-29T02:59:59Z", true, "2026-03-29T23:00:00Z"},
		"clocks set back: not the first time":  {"Europe/Vienna", []valkeyv1.MaintenanceWindow{window("02:30", "30m")}, "2026-10-25T00:30:00Z", false, "2026-10-25T01:30:00Z"},
		"clocks set back: the second time":     {"Europe/Vienna", []valkeyv1.MaintenanceWindow{window("02:30", "30m")}, "2026-10-25T01:30:00Z", true, "2026-10-26T01:30:00Z"},
		"clocks set back: no longer than ever": {"Europe/Vienna", []valkeyv1.MaintenanceWindow{window("01:00", "3h")}, "2026-10-25T02:00:00Z", false, "2026-10-26T00:00:00Z"},
		"a day without midnight":               {"America/Sao_Paulo", []valkeyv1.MaintenanceWindow{window("12:00", "1h", "Sun")}, "2018-11-04T14:00:00Z", true, "2018-11-11T14:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			now, err := time.Parse(time.RFC3339, tc.now)
			if err != nil {
				t.Fatal(err)
			}
			is := At(&valkeyv1.Maintenance{TimeZone: tc.zone, Windows: tc.windows}, now)
			if next := is.Next.UTC().Format(time.RFC3339); is.Open != tc.open || next != tc.next || is.Doubt != "" {
				t.Errorf("open is %t, want %t; next %s, want %s; %s", is.Open, tc.open, next, tc.next, is.Doubt)
			}
		})
	}
}

// Without windows a restart may begin at any time; with windows that say nothing, at none.
func TestWindowsThatSayNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		m     *valkeyv1.Maintenance
		open  bool
		doubt string
	}{
		"none":          {nil, true, ""},
		"an empty list": {&valkeyv1.Maintenance{}, true, ""},
		"a zone that nobody knows": {&valkeyv1.Maintenance{TimeZone: "Europe/Gotham", Windows: []valkeyv1.MaintenanceWindow{window("00:00", "24h")}}, false,
			`the manager does not know the time zone "Europe/Gotham"`},
		"no time":     {&valkeyv1.Maintenance{Windows: []valkeyv1.MaintenanceWindow{window("noon", "24h")}}, false, `"noon" is no time of day`},
		"no duration": {&valkeyv1.Maintenance{Windows: []valkeyv1.MaintenanceWindow{window("00:00", "long")}}, false, `"long" is no duration`},
	} {
		if is := At(tc.m, time.Unix(1_700_000_000, 0)); is.Open != tc.open || is.Doubt != tc.doubt {
			t.Errorf("%s: %+v", name, is)
		}
	}
}
