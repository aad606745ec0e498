package topology

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// TotalSlots is how many hash slots a cluster has.
const TotalSlots = 16384

// Slots is a set of hash slots in the one way to write it: ranges in order, as
// few as possible, as in "0-5460 8000". Equal sets are equal strings.
type Slots string

var errNoSlots = errors.New("not a set of slots")

// Range is the set of all slots from first to last.
func Range(first, last int) Slots { return Slots(written([2]int{first, last})) }

// ParseSlots reads ranges in any order, separated by spaces.
func ParseSlots(text string) (Slots, error) {
	canonical, next := true, 0
	for part := range strings.FieldsSeq(text) {
		r, err := parseRange(part)
		if err != nil {
			return "", err
		}
		canonical = canonical && r[0] >= next && part == written(r)
		next = r[1] + 2
	}
	fields := strings.Fields(text)
	if canonical { // as servers write it: worth knowing, where a thousand views list a thousand peers
		return Slots(strings.Join(fields, " ")), nil
	}
	ranges := make([][2]int, 0, len(fields))
	for _, part := range fields {
		r, _ := parseRange(part)
		ranges = append(ranges, r)
	}
	return joined(ranges), nil
}

// written is the one way to write a range.
func written(r [2]int) string {
	if r[0] == r[1] {
		return strconv.Itoa(r[0])
	}
	return strconv.Itoa(r[0]) + "-" + strconv.Itoa(r[1])
}

func parseRange(part string) (r [2]int, err error) {
	first, last, isRange := strings.Cut(part, "-")
	if !isRange {
		last = first
	}
	from, err1 := strconv.ParseUint(first, 10, 16)
	to, err2 := strconv.ParseUint(last, 10, 16)
	if err1 != nil || err2 != nil || from > to || to >= TotalSlots {
		return r, fmt.Errorf("parse %q: %w", part, errNoSlots)
	}
	return [2]int{int(from), int(to)}, nil
}

// Share is the part of all slots that falls to shard i of n: the shares of all
// are disjoint, cover everything and differ by one slot at most.
func Share(i, n int) Slots {
	each, more := TotalSlots/n, TotalSlots%n // the first few get one more
	first := i*each + min(i, more)
	next := (i+1)*each + min(i+1, more)
	return Range(first, next-1)
}

// Count is how many slots there are in the set.
func (s Slots) Count() int {
	n := 0
	for _, r := range s.Ranges() {
		n += r[1] - r[0] + 1
	}
	return n
}

// Ranges lists the set as pairs of first and last.
func (s Slots) Ranges() (ranges [][2]int) {
	for part := range strings.FieldsSeq(string(s)) {
		if r, err := parseRange(part); err == nil {
			ranges = append(ranges, r)
		}
	}
	return ranges
}

// Overlaps says that a slot is in both sets.
func (s Slots) Overlaps(o Slots) bool {
	if s == "" || o == "" {
		return false
	}
	ours := s.Ranges()
	for _, r := range o.Ranges() {
		for _, q := range ours {
			if r[0] <= q[1] && q[0] <= r[1] {
				return true
			}
		}
	}
	return false
}

// Without is the slots of s that are not in o.
func (s Slots) Without(o Slots) Slots {
	if o == "" || s == "" {
		return s
	}
	var left [][2]int
	others := o.Ranges()
	for _, r := range s.Ranges() {
		for _, q := range others {
			if q[1] < r[0] || q[0] > r[1] {
				continue
			}
			if q[0] > r[0] {
				left = append(left, [2]int{r[0], q[0] - 1})
			}
			r[0] = q[1] + 1
		}
		if r[0] <= r[1] {
			left = append(left, r)
		}
	}
	return joined(left)
}

// With is the slots that are in either set.
func (s Slots) With(o Slots) Slots {
	switch {
	case s == "":
		return o
	case o == "":
		return s
	}
	return joined(append(s.Ranges(), o.Ranges()...))
}

// joined is the set of all the ranges, which may be in any order and overlap.
func joined(ranges [][2]int) Slots {
	slices.SortFunc(ranges, func(a, b [2]int) int { return a[0] - b[0] })
	var b strings.Builder
	for i := 0; i < len(ranges); {
		r := ranges[i]
		for i++; i < len(ranges) && ranges[i][0] <= r[1]+1; i++ {
			r[1] = max(r[1], ranges[i][1])
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(written(r))
	}
	return Slots(b.String())
}

// List names every slot of the set.
func (s Slots) List() (list []int) {
	for _, r := range s.Ranges() {
		for i := r[0]; i <= r[1]; i++ {
			list = append(list, i)
		}
	}
	return list
}
