package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const module = "github.com/statecraft-dev/statecraft/"

// test is one test; without a name it is its package.
type test struct{ pkg, name string }

// result is how a test ended last, and whether it had failed before that.
type result struct {
	last  string
	again bool
}

type results map[test]result

func (r results) add(pkg, name, action string) {
	if action != "pass" && action != "fail" && action != "skip" {
		return
	}
	t := test{pkg, name}
	r[t] = result{last: action, again: r[t].last == "fail"}
}

// count counts the tests, those with subtests included as gotestsum does; and a package that failed without a test.
func (r results) count() (c counts) {
	for _, t := range slices.SortedFunc(maps.Keys(r), func(a, b test) int { return cmp.Or(cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.name, b.name)) }) {
		is := r[t]
		switch {
		case t.name == "" && (is.last != "fail" || r.failedIn(t.pkg)):
		case is.last == "fail":
			c.failed++
			c.say("FAIL", t)
		case is.last == "skip":
			c.skipped++
			c.say("SKIP", t)
		default:
			c.passed++
			if is.again && !strings.Contains(t.name, "/") { // its subtests are no others
				c.unsteady++
				c.say("AGAIN", t)
			}
		}
	}
	return c
}

func (r results) failedIn(pkg string) bool {
	for t, is := range r {
		if t.pkg == pkg && t.name != "" && is.last == "fail" {
			return true
		}
	}
	return false
}

func (c *counts) say(what string, t test) {
	line := fmt.Sprintf("%-5s %s", what, t.pkg)
	if t.name != "" {
		line += " " + t.name
	}
	c.names = append(c.names, line)
}
