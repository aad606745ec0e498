package load

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"
)

// ErrContract is of a contract that cannot be asked for.
var ErrContract = errors.New("contract is invalid")

// Labels by which series are attributed to functions. The configuration of the scrapes sets them from the namespace and the
// labels of the pod, so what a pod serves cannot choose them. No contract may match them.
const (
	NamespaceLabel = "namespace"
	ClassLabel     = "runtime_statecraft_dev_class"
	FunctionLabel  = "runtime_statecraft_dev_function"
)

// PodLabel names the pod of a series, as configurations of scrapes set it. A pod with several ports that are scraped is one pod.
const PodLabel = "pod"

// Op compares a label with a value.
type Op string

// The operators of matchers.
const (
	Equal    Op = "="
	NotEqual Op = "!="
	Match    Op = "=~"
	NotMatch Op = "!~"
)

var ops = []Op{Equal, NotEqual, Match, NotMatch}

// Matcher chooses series by one of their labels.
type Matcher struct {
	Label string `json:"label"`
	Op    Op     `json:"op"`
	Value string `json:"value"`
}

// Contract says which series tell of requests: a histogram of their durations in seconds.
type Contract struct {
	Histogram string    `json:"histogram"`
	Matchers  []Matcher `json:"matchers,omitempty"`
	// Errors choose those that failed, besides Matchers. Without any, failures are not measured.
	Errors []Matcher `json:"errors,omitempty"`
}

// failed is how OpenTelemetry names the status of a response, in Prometheus.
var failed = []Matcher{{Label: "http_response_status_code", Op: Match, Value: "5.."}}

// OTelHTTP is what instrumented HTTP servers have by the conventions of OpenTelemetry.
func OTelHTTP() Contract {
	return Contract{Histogram: "http_server_request_duration_seconds", Errors: failed}
}

// Knative is what the queue proxy has in each pod of a Knative Service.
func Knative() Contract {
	return Contract{Histogram: "kn_serving_invocation_duration_seconds", Errors: failed}
}

const (
	longestName  = 128
	longestValue = 256
	mostMatchers = 8
)

var (
	metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	labelName  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
	ours       = []string{NamespaceLabel, ClassLabel, FunctionLabel, "le"}
)

// Check refuses what cannot be quoted: names. Values can be; whether a regular expression is one is for the source to say,
// in whose query language it is written.
func (c Contract) Check() error {
	if len(c.Histogram) > longestName || !metricName.MatchString(c.Histogram) {
		return fmt.Errorf("%w: %q is not the name of a histogram", ErrContract, cut(c.Histogram))
	}
	if len(c.Matchers) > mostMatchers || len(c.Errors) > mostMatchers {
		return fmt.Errorf("%w: it has more than %d matchers", ErrContract, mostMatchers)
	}
	for _, m := range slices.Concat(c.Matchers, c.Errors) {
		if err := m.check(); err != nil {
			return err
		}
	}
	return nil
}

func (m Matcher) check() error {
	switch {
	case len(m.Label) > longestName || !labelName.MatchString(m.Label):
		return fmt.Errorf("%w: %q is not the name of a label", ErrContract, cut(m.Label))
	case m.Label[0] == '_' && len(m.Label) > 1 && m.Label[1] == '_':
		return fmt.Errorf("%w: label %s is one of Prometheus itself", ErrContract, m.Label)
	case slices.Contains(ours, m.Label):
		return fmt.Errorf("%w: label %s is matched by the manager", ErrContract, m.Label)
	case !slices.Contains(ops, m.Op):
		return fmt.Errorf("%w: %q does not compare", ErrContract, cut(string(m.Op)))
	case len(m.Value) > longestValue || !utf8.ValidString(m.Value):
		return fmt.Errorf("%w: the value of label %s is longer than %d bytes, or no text", ErrContract, m.Label, longestValue)
	}
	return nil
}

// cut keeps a name that is none from filling a status.
func cut(text string) string {
	const most = 40
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// Same says that two contracts choose the same series.
func (c Contract) Same(d Contract) bool {
	return c.Histogram == d.Histogram && slices.Equal(c.Matchers, d.Matchers) && slices.Equal(c.Errors, d.Errors)
}
