package topology

import (
	"errors"
	"fmt"
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
	var set slotSet
	for _, part := range fields {
		r, _ := parseRange(part)
		set.add(r[0], r[1])
	}
	return set.slots(), nil
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
	if o == "" {
		return s
	}
	var set slotSet
	set.addAll(s)
	for _, r := range o.Ranges() {
		for i := r[0]; i <= r[1]; i++ {
			set[i] = false
		}
	}
	return set.slots()
}

// With is the slots that are in either set.
func (s Slots) With(o Slots) Slots {
	var set slotSet
	set.addAll(s)
	set.addAll(o)
	return set.slots()
}

type slotSet [TotalSlots]bool

func (set *slotSet) add(first, last int) {
	for i := first; i <= last; i++ {
		set[i] = true
	}
}

func (set *slotSet) addAll(s Slots) {
	for _, r := range s.Ranges() {
		set.add(r[0], r[1])
	}
}

func (set *slotSet) slots() Slots {
	var b strings.Builder
	for i := 0; i < TotalSlots; i++ {
		if !set[i] {
			continue
		}
		first := i
		for i+1 < TotalSlots && set[i+1] {
			i++
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(written([2]int{first, i}))
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
