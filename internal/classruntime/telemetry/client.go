package telemetry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/api"
	promv1 "github.com/prometheus/client_golang/api/prometheus/v1"
	"github.com/prometheus/common/model"
	"golang.org/x/sync/errgroup"

	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
)

// Config is a source, as the installation sets it.
type Config struct {
	URL string
	// CAFile signs the source's certificate; empty is what the machine trusts. CertFile and KeyFile are the manager's own,
	// and TokenFile has its bearer token; the three are read anew when they are used.
	CAFile, CertFile, KeyFile, TokenFile string
	// Window is over which time is measured, Interval the time between two scrapes of the source.
	Window, Interval time.Duration
}

// Client asks a Prometheus, or what speaks like one.
type Client struct {
	api  promv1.API
	idle api.CloseIdler
	pace pace
	now  func() time.Time
}

// fewest is how many samples a window must have: a rate takes two, and one may be missing.
const fewest = 4

var (
	errNoAddress     = errors.New("not a URL of http or https")
	errTooFewSamples = fmt.Errorf("fewer than %d samples", fewest)
)

// NewClient makes a client; now is its clock.
func NewClient(c Config, now func() time.Time) (*Client, error) {
	if address, err := url.Parse(c.URL); err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return nil, fmt.Errorf("read address of the source: %w", errNoAddress) // the text itself may have a password in it
	}
	if c.Interval <= 0 || c.Window < fewest*c.Interval {
		return nil, fmt.Errorf("measure over %s with a sample every %s: %w", c.Window, c.Interval, errTooFewSamples)
	}
	web, err := c.web()
	if err != nil {
		return nil, err
	}
	connected, err := api.NewClient(api.Config{Address: c.URL, Client: web})
	if err != nil {
		return nil, fmt.Errorf("read address of the source: %w", err)
	}
	return &Client{promv1.NewAPI(connected), web, pace{c.Window, c.Interval}, now}, nil
}

// Close ends connections that are not in use.
func (c *Client) Close() { c.idle.CloseIdleConnections() }

// together is how many queries are under way at a time.
const together = 8

// Look implements Source.
func (c *Client) Look(ctx context.Context, subjects []Subject) (map[load.Key]Answer, error) {
	answers, sets := sort(subjects)
	if len(sets) == 0 {
		return answers, nil
	}
	began := c.now()
	scraped := &results{queries: c.pace.ofPods(namespacesOf(sets))}
	all := []*results{scraped}
	for _, s := range sets {
		s.results.queries = c.pace.ofContract(s.contract, s.namespaces, s.percentiles()...)
		all = append(all, &s.results)
	}
	c.askAll(ctx, all)
	if scraped.err != nil { // they are no user's, so it is the source
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, scraped.err)
	}
	for _, s := range sets {
		for key := range s.keys {
			answers[key] = c.answer(s, scraped, key, began)
		}
	}
	return answers, nil
}

// results are the answers to queries that belong together.
type results struct {
	queries map[figure]string

	mu      sync.Mutex
	vectors map[figure]map[load.Key]value
	warned  bool
	err     error // of the first query that failed
}

// value is a number, and how long after it was sampled, or computed, the source was asked.
type value struct {
	number float64
	at     time.Time // when the source computed it, by the clock of the source
}

// askAll asks all queries. One that fails ends none of the others: they may be another user's.
func (c *Client) askAll(ctx context.Context, all []*results) {
	var g errgroup.Group
	g.SetLimit(together)
	for _, r := range all {
		r.vectors = map[figure]map[load.Key]value{}
		for _, f := range slices.Sorted(maps.Keys(r.queries)) {
			g.Go(func() error {
				vector, warned, err := c.ask(ctx, r.queries[f])
				r.mu.Lock()
				defer r.mu.Unlock()
				r.vectors[f], r.warned = vector, r.warned || warned
				if r.err == nil {
					r.err = err
				}
				return nil
			})
		}
	}
	_ = g.Wait() // no query is an error of all
}

// ask asks one query.
func (c *Client) ask(ctx context.Context, query string) (vector map[load.Key]value, warned bool, err error) {
	var options []promv1.Option
	if deadline, has := ctx.Deadline(); has {
		left := max(time.Second, time.Until(deadline).Round(time.Second)) // NOTE: it reads no fractions of a second
		options = append(options, promv1.WithTimeout(left))
	}
	answer, warnings, _, err := c.api.Query(ctx, query, time.Time{}, options...)
	if err != nil {
		return nil, false, err
	}
	samples, is := answer.(model.Vector)
	if !is {
		return nil, false, fmt.Errorf("the answer is a %s", answer.Type())
	}
	vector = make(map[load.Key]value, len(samples))
	for _, s := range samples {
		if number := float64(s.Value); !math.IsNaN(number) && !math.IsInf(number, 0) {
			vector[keyOf(s.Metric)] = value{number, s.Timestamp.Time()}
		}
	}
	return vector, len(warnings) > 0, nil
}

func keyOf(m model.Metric) load.Key {
	return load.Key{Namespace: string(m[load.NamespaceLabel]), Class: string(m[load.ClassLabel]), Function: string(m[load.FunctionLabel])}
}

// classify tells what a user wrote from what passes.
func classify(err error) error {
	if e := (*promv1.Error)(nil); errors.As(err, &e) && e.Type == promv1.ErrBadData {
		return fmt.Errorf("%w: %s", ErrQueryInvalid, oneLine(e.Msg))
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, err)
}
