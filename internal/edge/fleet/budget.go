package fleet

import (
	"strconv"
	"time"
)

// Budget is how many requests Flight Control still takes from this address, as it said with its last answer. The zero value is
// that it said nothing: its program limits nothing unless it is told to.
type Budget struct {
	Limit     int       `json:"limit,omitempty"` // 0 is no limit
	Remaining int       `json:"remaining,omitempty"`
	Reset     time.Time `json:"reset,omitzero"` // when the count begins anew
	// Until is before when no request is taken at all, after one was refused.
	Until time.Time `json:"until,omitzero"`
}

// Headers of the answer that tell of the budget, by their names.
const (
	LimitHeader      = "X-RateLimit-Limit"
	RemainingHeader  = "X-RateLimit-Remaining"
	ResetHeader      = "X-RateLimit-Reset"
	RetryAfterHeader = "Retry-After"
)

// Next is the budget after an answer with these headers. An answer without them changes nothing: a proxy may have given it.
func (b Budget) Next(code int, header func(name string) string, now time.Time) Budget {
	if limit, is := count(header(LimitHeader)); is && limit > 0 {
		b.Limit = limit
		b.Remaining, _ = count(header(RemainingHeader))
		b.Reset = time.Time{}
		if seconds, is := count(header(ResetHeader)); is {
			b.Reset = time.Unix(int64(seconds), 0).UTC()
		}
	}
	if code == tooManyRequests {
		b.Until = now.Add(max(RetryAfter(header(RetryAfterHeader), now), time.Second))
	}
	return b
}

// Wait is how long no request is to be made.
func (b Budget) Wait(now time.Time) time.Duration { return max(b.Until.Sub(now), 0) }

// Share is how much is left, from 0 to 1: of what is not limited, or begins anew, all.
func (b Budget) Share(now time.Time) float64 {
	if b.Limit <= 0 || !b.Reset.IsZero() && !now.Before(b.Reset) {
		return 1
	}
	return min(float64(max(b.Remaining, 0))/float64(b.Limit), 1)
}

// RetryAfter reads how long to wait: a number of seconds, or a date.
func RetryAfter(value string, now time.Time) time.Duration {
	const most = time.Hour // a clock that is wrong must not stop us for a day
	if seconds, is := count(value); is {
		return min(time.Duration(seconds)*time.Second, most)
	}
	if at, err := time.Parse(time.RFC1123, value); err == nil {
		return min(max(at.Sub(now), 0), most)
	}
	return 0
}

func count(text string) (n int, is bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0
}
