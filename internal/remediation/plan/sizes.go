package plan

import (
	"slices"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// maxAsked bounds the parameters of one condition, as they are written. Those of the action are bounded where they are read.
const maxAsked = 4 << 10

// tooLong is the first condition whose parameters take more than a policy is asked with.
func tooLong(conditions ...[]remediationv1.Condition) (name string, is bool) {
	for _, c := range slices.Concat(conditions...) {
		size := 0
		for key, value := range c.Parameters {
			size += len(key) + len(value.Raw)
		}
		if size > maxAsked {
			return c.Name, true
		}
	}
	return "", false
}
