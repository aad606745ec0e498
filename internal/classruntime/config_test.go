package classruntime

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/statecraft-dev/statecraft/internal/classruntime/telemetry"
)

func TestSourcesAreRead(t *testing.T) {
	var s Sources
	for _, text := range []string{
		"name=main,url=https://prometheus.monitoring:9090/api,interval=30s,window=5m,ca-file=/ca,token-file=/token",
		"name=other,url=http://127.0.0.1:9091",
	} {
		if err := s.Set(text); err != nil {
			t.Error(err)
		}
	}
	want := Sources{
		{"main", telemetry.Config{URL: "https://prometheus.monitoring:9090/api", CAFile: "/ca", TokenFile: "/token", Window: 5 * time.Minute, Interval: 30 * time.Second}},
		{"other", telemetry.Config{URL: "http://127.0.0.1:9091", Window: 2 * time.Minute, Interval: 15 * time.Second}},
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Error(diff)
	}
	if s.String() != "main,other" {
		t.Errorf("it shows more than names: %s", &s)
	}
}

func TestSourcesAreRefused(t *testing.T) {
	s := Sources{{Name: "main"}}
	for what, text := range map[string]string{
		"one without a name":  "url=http://127.0.0.1:9090",
		"one without a URL":   "name=other",
		"a name of two":       "name=main,url=http://127.0.0.1:9090",
		"a name with a blank": "name=a b,url=http://127.0.0.1:9090",
		"what nobody knows":   "name=other,url=http://127.0.0.1:9090,proxy=yes",
		"what is no duration": "name=other,url=http://127.0.0.1:9090,interval=often",
		"nothing":             "",
	} {
		if s.Set(text) == nil {
			t.Errorf("takes %s", what)
		}
	}
}
