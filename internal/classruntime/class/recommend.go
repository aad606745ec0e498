package class

import (
	"fmt"
	"time"

	"github.com/statecraft-dev/statecraft/internal/classruntime/capacity"
	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Measured is what a class requires of a function, and what was measured of it.
type Measured struct {
	capacity.Requirements
	PerReplica float64    `json:"perReplica,omitempty"`
	Facts      load.Facts `json:"facts,omitzero"` // of the last look that answered
	// Problem is why the facts are not known, or not to be believed any more; Words say it in a sentence.
	Problem fsm.Reason `json:"problem,omitempty"`
	Words   string     `json:"words,omitempty"`
}

// The reasons of recommendations.
const (
	ReasonNotMeasured        fsm.Reason = "NotMeasured"         // the manager has not asked the source yet
	ReasonSourceUnknown      fsm.Reason = "SourceUnknown"       // the class names no source, or one that the installation does not have
	ReasonSourceUnavailable  fsm.Reason = "SourceUnavailable"   // the source does not answer
	ReasonQueryInvalid       fsm.Reason = "QueryInvalid"        // the source refuses the question itself
	ReasonNotScraped         fsm.Reason = "NotScraped"          // the source has no samples of the function
	ReasonNoRequests         fsm.Reason = "NoRequestsSeen"      // pods are scraped, and none has the series
	ReasonSamplesStale       fsm.Reason = "SamplesStale"        // the samples are too old
	ReasonRequirementInvalid fsm.Reason = "RequirementInvalid"  // a requirement cannot be read
	ReasonCapacityUnknown    fsm.Reason = "CapacityUnknown"     // nobody declared what one replica carries
	ReasonLatencyElsewhere   fsm.Reason = "LatencyNotLoadBound" // the latency is exceeded, and not because of load
	ReasonObserved           fsm.Reason = "NFRObserved"         // the recommendations of all functions are known
)

// recommended is how many replicas a function needs, as far as that is known now.
type recommended struct {
	*capacity.Recommendation            // nil if nothing follows from what is known now
	sampledAt                time.Time  // zero if it follows from requirements alone
	reason                   fsm.Reason // why there is none, or what it leaves open
	words                    string
}

// recommend computes what a function needs. Requirements are always known; what follows from a load is no better than its samples.
func recommend(f Function, staleAfter time.Duration, now time.Time) (r recommended) {
	m := f.Measured
	reason, words := m.trouble(f, staleAfter, now)
	q := capacity.Question{Requirements: m.Requirements, PerReplica: m.PerReplica, Replicas: f.Rollout.Desired, Governed: len(f.Engines) > 0}
	if reason == "" {
		q.Load = m.Facts
	}
	answer := capacity.Recommend(q)
	answer.Replicas = max(1, answer.Replicas) // nothing would start a function again that has none
	switch {
	case !answer.Measured: // the load changes nothing
		return recommended{Recommendation: &answer}
	case reason != "":
		return recommended{reason: reason, words: words}
	}
	r = recommended{Recommendation: &answer, sampledAt: m.Facts.SampledAt}
	r.reason, r.words = m.open(f, answer.Note)
	return r
}

// open is what a recommendation leaves open.
func (m Measured) open(f Function, note capacity.Note) (reason fsm.Reason, words string) {
	switch {
	case note == capacity.CapacityUnknown:
		return ReasonCapacityUnknown, fmt.Sprintf("Nothing says how many requests one replica of function %s carries: declare requirements.capacity.rpsPerReplica.", f.Key)
	case note == capacity.LatencyNotLoadBound:
		return ReasonLatencyElsewhere, fmt.Sprintf("Requests to function %s take %s, more than the %s required, while its replicas have little to do: more of them would not help.",
			f.Key, m.Facts.Latency.Round(time.Millisecond), m.MaxLatency)
	case m.Facts.Traffic == load.Silent:
		return ReasonNoRequests, fmt.Sprintf("The pods of function %s have no series of requests: they had none since they started, or the series has another name.", f.Key)
	}
	return "", ""
}

// trouble is why nothing follows from what was measured.
func (m Measured) trouble(f Function, staleAfter time.Duration, now time.Time) (reason fsm.Reason, words string) {
	switch {
	case m.Problem != "":
		return m.Problem, m.Words
	case !m.Facts.Known():
		return ReasonNotScraped, fmt.Sprintf("The source has no samples of function %s: its pods are not scraped, or not under the labels of the class.", f.Key)
	case now.Sub(m.Facts.SampledAt) > staleAfter:
		return ReasonSamplesStale, fmt.Sprintf("The newest samples of function %s are older than %s.", f.Key, staleAfter)
	}
	return "", ""
}

// isMeasured says that something may be recommended of a function: one that is to have no replicas needs none.
func (f Function) isMeasured() bool {
	return f.Measured != nil && f.has(KindDeployment) && f.Floor > 0 && f.Rollout.Desired > 0
}
