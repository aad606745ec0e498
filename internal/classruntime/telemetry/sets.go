package telemetry

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/statecraft-dev/statecraft/internal/classruntime/load"
)

// set is what is asked by one set of queries.
type set struct {
	contract   load.Contract
	namespaces []string
	keys       map[load.Key]int32 // with the percentile of each
	results    results
}

// sort puts subjects into sets, and answers at once those that cannot be asked for. Functions of all namespaces share a set where the
// contract is one of ours. A user's own has a set in each namespace: so it chooses no series of another, and what is wrong
// with it, or slow, is wrong for that namespace alone.
func sort(subjects []Subject) (answers map[load.Key]Answer, sets []*set) {
	answers = map[load.Key]Answer{}
	for _, s := range subjects {
		if err := Check(s); err != nil {
			answers[s.Key] = Answer{Err: err}
			continue
		}
		i := slices.IndexFunc(sets, func(one *set) bool { return one.holds(s) })
		if i < 0 {
			i = len(sets)
			sets = append(sets, &set{contract: s.Contract, keys: map[load.Key]int32{}})
		}
		if one := sets[i]; !slices.Contains(one.namespaces, s.Key.Namespace) {
			one.namespaces = append(one.namespaces, s.Key.Namespace)
		}
		sets[i].keys[s.Key] = s.Percentile
	}
	for _, one := range sets {
		slices.Sort(one.namespaces)
	}
	slices.SortStableFunc(sets, func(a, b *set) int { return len(b.keys) - len(a.keys) }) // those that most depend on come first
	return answers, sets
}

// Check refuses what cannot be asked for, whatever the source is.
func Check(s Subject) error {
	if err := s.Contract.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrQueryInvalid, err)
	}
	if s.Percentile < 1 || s.Percentile > 99 {
		return fmt.Errorf("%w: there is no percentile %d", ErrQueryInvalid, s.Percentile)
	}
	return nil
}

func (one *set) holds(s Subject) bool {
	return one.contract.Same(s.Contract) && (isOurs(s.Contract) || slices.Contains(one.namespaces, s.Key.Namespace))
}

// percentiles are those that are asked for, each once.
func (one *set) percentiles() []int32 { return slices.Compact(slices.Sorted(maps.Values(one.keys))) }

func isOurs(c load.Contract) bool { return c.Same(load.OTelHTTP()) || c.Same(load.Knative()) }

func namespacesOf(sets []*set) (all []string) {
	for _, s := range sets {
		all = append(all, s.namespaces...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// oneLine makes a text of the source fit for a status.
func oneLine(text string) string {
	const most = 256
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
