package topology

import "testing"

// What failed long ago, and what came to something since, says nothing about the next attempt.
func TestFailedInARow(t *testing.T) {
	job := func(state string, created int64) SlotJob { return SlotJob{State: state, Created: created} }
	came := SlotJob{State: JobFailed, Created: 109, Importing: true}
	for what, c := range map[string]struct {
		jobs []SlotJob // the newest first
		want int
	}{
		"none":                   {nil, 0},
		"three":                  {[]SlotJob{job(JobFailed, 130), job(JobFailed, 120), job(JobFailed, 110)}, 3},
		"three of one attempt":   {[]SlotJob{job(JobFailed, 110), job(JobFailed, 110), job(JobFailed, 110)}, 1},
		"one since a success":    {[]SlotJob{job(JobFailed, 130), job(JobSuccess, 120), job(JobFailed, 110)}, 1},
		"one since a cancelled":  {[]SlotJob{job(JobFailed, 130), job(JobCancelled, 120), job(JobFailed, 110)}, 1},
		"one under way":          {[]SlotJob{job("streaming", 130), job(JobFailed, 120), job(JobFailed, 110)}, 0},
		"some are long ago":      {[]SlotJob{job(JobFailed, 130), job(JobFailed, 99), job(JobFailed, 98)}, 1},
		"what came does not say": {[]SlotJob{job(JobFailed, 130), came, job(JobFailed, 108)}, 2},
	} {
		if got := FailedInARow(c.jobs, 100); got != c.want {
			t.Errorf("%s: %d, want %d", what, got, c.want)
		}
	}
}
