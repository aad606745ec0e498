package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"

	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
)

// server answers queries by what they contain, and remembers them.
type server struct {
	*httptest.Server
	answers map[string]string // a part of a query → the answer; the longest part that fits counts

	mu      sync.Mutex
	queries []string
	timeout string
	header  http.Header
}

func newServer(t *testing.T, answers map[string]string) *server {
	t.Helper()
	s := &server{answers: answers}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP implements http.Handler. An answer that begins with a number has that status.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.FormValue("query")
	s.mu.Lock()
	s.queries, s.timeout, s.header = append(s.queries, query), r.FormValue("timeout"), r.Header
	s.mu.Unlock()
	best, answer := "", `{"status":"success","data":{"resultType":"vector","result":[]}}`
	for part, text := range s.answers {
		if strings.Contains(query, part) && len(part) >= len(best) {
			best, answer = part, text
		}
	}
	var status int
	if n, err := fmt.Sscanf(answer, "%d ", &status); n == 1 && err == nil {
		w.Header().Set("Location", "http://"+r.Host+"/elsewhere")
		w.WriteHeader(status)
		_, answer, _ = strings.Cut(answer, " ")
	}
	_, _ = fmt.Fprint(w, answer)
}

// asked are the queries since the last time.
func (s *server) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.queries
	s.queries = nil
	return list
}

// vector is an answer for one function, computed at 1000.
func vector(value string, more ...string) string {
	return fmt.Sprintf(`{"status":"success"%s,"data":{"resultType":"vector","result":[{"metric":{"namespace":"shop","runtime_statecraft_dev_class":"cart",`+
		`"runtime_statecraft_dev_function":"add"},"value":[1000,"%s"]}]}}`, strings.Join(more, ""), value)
}

var (
	now  = time.Unix(5000, 0) // the clocks differ, which must not matter
	key  = load.Key{Namespace: "shop", Class: "cart", Function: "add"}
	ours = Subject{key, load.OTelHTTP(), 95}
	// usual are the answers about a function with ten requests a second.
	usual = map[string]string{
		"[2m])":         vector("10"),
		"max_over_time": vector("12"),
		"stddev":        vector("0.1"),
		"seconds_sum":   vector("2.5"),
		`=~"5.."`:       vector("1"),
		"quantile(0.95": vector("0.25"),
		"min by (namespace, runtime_statecraft_dev_class, runtime_statecraft_dev_function) (timestamp(http": vector("990"),
		"max by":        vector("8"),
		"and up":        vector("4"),
		"timestamp(up":  vector("995"),
		"time() - time": vector("3"),
	}
)

func newClient(t *testing.T, c Config) *Client {
	t.Helper()
	c.Window, c.Interval = 2*time.Minute, 15*time.Second
	client, err := NewClient(c, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// with replaces some of the usual answers.
func with(other map[string]string) map[string]string {
	all := map[string]string{}
	for part, answer := range usual {
		all[part] = answer
	}
	for part, answer := range other {
		all[part] = answer
	}
	return all
}

func TestLook(t *testing.T) {
	s := newServer(t, usual)
	answers, err := newClient(t, Config{URL: s.URL}).Look(t.Context(), []Subject{ours})
	want := map[load.Key]Answer{key: {Facts: load.Facts{
		Traffic: load.Measured, RPS: 10, PeakRPS: 12, Variation: 0.1, Latency: 250 * time.Millisecond, ErrorRatio: 0.1, Concurrency: 2.5,
		Pods: 3, SampledAt: now.Add(-10 * time.Second), Coverage: 1, LeastCoverage: 0.5, Window: 2 * time.Minute, Interval: 15 * time.Second,
	}}}
	if diff := cmp.Diff(want, answers); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// The source ends a query that nobody waits for any more. It reads no fractions of a second.
func TestQueriesEndInTime(t *testing.T) {
	s := newServer(t, usual)
	for within, want := range map[time.Duration]string{2900 * time.Millisecond: "3s", 100 * time.Millisecond: "1s", 61 * time.Second: "1m1s"} {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		_, err := newClient(t, Config{URL: s.URL}).Look(ctx, []Subject{ours})
		cancel()
		if _, unreadable := model.ParseDuration(s.timeout); err != nil || unreadable != nil || s.timeout != want {
			t.Errorf("within %s: %v, the source is given %q", within, err, s.timeout)
		}
	}
}

func TestAnswersAreJudged(t *testing.T) {
	const empty = `{"status":"success","data":{"resultType":"vector","result":[]}}`
	oldest := "min by (namespace, runtime_statecraft_dev_class, runtime_statecraft_dev_function) (timestamp(http"
	for name, tc := range map[string]struct {
		answers map[string]string
		want    func(f load.Facts) bool
	}{
		"no failures is none of any":          {map[string]string{`=~"5.."`: empty}, func(f load.Facts) bool { return f.ErrorRatio == 0 && f.Traffic == load.Measured }},
		"more failures than requests are all": {map[string]string{`=~"5.."`: vector("11")}, func(f load.Facts) bool { return f.ErrorRatio == 1 }},
		"no requests have no failures":        {map[string]string{"[2m])": vector("0"), `=~"5.."`: vector("0")}, func(f load.Facts) bool { return f.ErrorRatio == 0 && f.Traffic == load.Measured }},
		"no latency":                          {map[string]string{"quantile(0.95": vector("NaN")}, func(f load.Facts) bool { return f.Latency == 0 }},
		"an endless latency":                  {map[string]string{"quantile(0.95": vector("+Inf")}, func(f load.Facts) bool { return f.Latency == 0 }},
		"a latency of years":                  {map[string]string{"quantile(0.95": vector("1e300")}, func(f load.Facts) bool { return f.Latency == time.Hour }},
		"the mean may be above the peak":      {map[string]string{"max_over_time": vector("9")}, func(f load.Facts) bool { return f.PeakRPS == 10 }},
		"no series, and pods":                 {map[string]string{"[2m])": empty, oldest: empty}, func(f load.Facts) bool { return f.Traffic == load.Silent && f.SampledAt.Equal(now.Add(-5*time.Second)) }},
		"series that are too old for a rate": {map[string]string{"[2m])": empty}, func(f load.Facts) bool {
			return f.Traffic == load.Silent && f.SampledAt.Equal(now.Add(-10*time.Second))
		}},
		"a rate of series that have ended": {map[string]string{oldest: empty}, func(f load.Facts) bool { return f.Traffic == load.Silent }},
		"neither series nor pods":          {map[string]string{"[2m])": empty, oldest: empty, "time() - time": empty, "timestamp(up": empty, "and up": empty}, func(f load.Facts) bool { return f.Traffic == load.Unknown && f.SampledAt.IsZero() }},
		"pods that were scraped long ago":  {map[string]string{"[2m])": empty, oldest: empty, "time() - time": empty}, func(f load.Facts) bool { return f.Traffic == load.Unknown }},
		"a sample of the future is new":    {map[string]string{oldest: vector("1010")}, func(f load.Facts) bool { return f.SampledAt.Equal(now) }},
		"a warning":                        {map[string]string{"seconds_sum": vector("1", `,"warnings":["a store did not answer"]`)}, func(f load.Facts) bool { return f.Incomplete }},
		"a warning about pods":             {map[string]string{"max by": vector("8", `,"warnings":["a store did not answer"]`)}, func(f load.Facts) bool { return f.Incomplete }},
		"a remark":                         {map[string]string{"seconds_sum": vector("1", `,"infos":["no histogram"]`)}, func(f load.Facts) bool { return !f.Incomplete }},
	} {
		s := newServer(t, with(tc.answers))
		answers, err := newClient(t, Config{URL: s.URL}).Look(t.Context(), []Subject{ours})
		if got := answers[key]; err != nil || got.Err != nil || !tc.want(got.Facts) {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
}

func TestErrorsAreTold(t *testing.T) {
	const badData = `400 {"status":"error","errorType":"bad_data","error":"invalid parameter \"query\": 1:2: parse error:\n  unexpected end"}`
	for name, tc := range map[string]struct {
		answers map[string]string
		whole   error  // of the source
		one     error  // of the function
		text    string // a part of it
	}{
		"a query that is wrong":        {map[string]string{"seconds_sum": badData}, nil, ErrQueryInvalid, `parse error: unexpected end`},
		"one that takes too long":      {map[string]string{"seconds_sum": `503 {"status":"error","errorType":"timeout","error":"query timed out"}`}, nil, ErrUnavailable, ""},
		"one that loads too much":      {map[string]string{"seconds_sum": `422 {"status":"error","errorType":"execution","error":"too many samples"}`}, nil, ErrUnavailable, ""},
		"an error of the server":       {map[string]string{"seconds_sum": "500 oops"}, nil, ErrUnavailable, ""},
		"no right to ask":              {map[string]string{"seconds_sum": "403 no"}, nil, ErrUnavailable, ""},
		"something else answers":       {map[string]string{"seconds_sum": "<html>"}, nil, ErrUnavailable, ""},
		"a 400 of something else":      {map[string]string{"seconds_sum": "400 <html>"}, nil, ErrUnavailable, ""},
		"an answer of another kind":    {map[string]string{"seconds_sum": `{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}`}, nil, ErrUnavailable, "scalar"},
		"a redirect is not followed":   {map[string]string{"seconds_sum": "302 "}, nil, ErrUnavailable, ""},
		"pods cannot be asked about":   {map[string]string{"max by": "500 oops"}, ErrUnavailable, nil, ""},
		"nor by a query that is wrong": {map[string]string{"max by": badData}, ErrUnavailable, nil, ""},
		"nothing can":                  {map[string]string{"": "500 oops"}, ErrUnavailable, nil, ""},
	} {
		s := newServer(t, with(tc.answers))
		if name == "nothing can" {
			s.answers = tc.answers
		}
		answers, err := newClient(t, Config{URL: s.URL}).Look(t.Context(), []Subject{ours})
		got := answers[key].Err
		if !errors.Is(err, tc.whole) || !errors.Is(got, tc.one) || got != nil && !strings.Contains(got.Error(), tc.text) {
			t.Errorf("%s: of the source %v, of the function %v", name, err, got)
		}
		for _, query := range s.asked() {
			if query == "" {
				t.Errorf("%s: it went elsewhere", name)
			}
		}
	}
}

// What a user wrote, and what is wrong with it, concerns nobody else's functions.
func TestFailuresAreTheirUsersAlone(t *testing.T) {
	s := newServer(t, with(map[string]string{"slow_count": `503 {"status":"error","errorType":"timeout","error":"no"}`, "bad_count": `400 {"status":"error","errorType":"bad_data","error":"no"}`}))
	slow, bad, wrong := key, key, key
	slow.Function, bad.Function, wrong.Function = "slow", "bad", "wrong"
	answers, err := newClient(t, Config{URL: s.URL}).Look(t.Context(), []Subject{
		{slow, load.Contract{Histogram: "slow"}, 95}, {bad, load.Contract{Histogram: "bad"}, 95}, {wrong, load.Contract{Histogram: "a b"}, 95}, ours,
	})
	if err != nil || answers[key].Err != nil || answers[key].Facts.RPS != 10 {
		t.Errorf("%v, %+v", err, answers[key])
	}
	for of, want := range map[load.Key]error{slow: ErrUnavailable, bad: ErrQueryInvalid, wrong: ErrQueryInvalid} {
		if got := answers[of].Err; !errors.Is(got, want) {
			t.Errorf("%s: %v", of, got)
		}
	}
}

func TestASourceThatHangs(t *testing.T) {
	ended := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-ended:
		case <-r.Context().Done():
		}
	}))
	defer hangs.Close()
	defer close(ended)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := newClient(t, Config{URL: hangs.URL}).Look(ctx, []Subject{ours}); !errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
	hangs.CloseClientConnections()
	down := httptest.NewServer(http.NotFoundHandler())
	down.Close()
	if _, err := newClient(t, Config{URL: down.URL}).Look(t.Context(), []Subject{ours}); !errors.Is(err, ErrUnavailable) {
		t.Error(err)
	}
}
