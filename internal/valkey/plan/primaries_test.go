package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// placed are the pods of a cluster on machines: a word for each shard, a letter for each of its pods.
func placed(words string) (nodes topology.Nodes) {
	for shard, word := range strings.Fields(words) {
		for ordinal, host := range word {
			nodes = append(nodes, topology.Node{Pod: topology.Pod{
				Name: fmt.Sprintf("%d-%d", shard, ordinal), Shard: shard, Ordinal: ordinal, Host: strings.Trim(string(host), "?"),
			}})
		}
	}
	return nodes
}

func TestFirstPrimariesAreApart(t *testing.T) {
	for pods, want := range map[string]string{
		"ab bc ca":          "0-0 1-0 2-0",
		"ab ac ab":          "0-0 1-1 2-1", // the first of each would all be on one
		"ab ac ca":          "0-1 1-0 2-0", // the first makes room
		"a a a":             "0-0 1-0 2-0", // there is no choice
		"ab ab ab":          "0-0 1-0 2-1",
		"?? ?? ??":          "0-0 1-0 2-0", // nobody knows
		"ab bc ca ab bc ca": "0-0 1-0 2-0 3-0 4-0 5-0",
	} {
		chosen := FirstPrimaries(placed(pods), len(strings.Fields(pods)))
		if !slices.Equal(chosen, strings.Fields(want)) {
			t.Errorf("%s: %v, not %s", pods, chosen, want)
		}
	}
}

// only is how many of the chosen are on one machine at most.
func only(nodes topology.Nodes, chosen []string) (most int) {
	on := map[string]int{}
	for _, n := range nodes {
		if slices.Contains(chosen, n.Name) {
			on[n.Host]++
			most = max(most, on[n.Host])
		}
	}
	return most
}

// No choice at all is better, and every shard has one of its own pods.
func TestFirstPrimariesAreBest(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 0)) //nolint:gosec // repeatable on purpose
	for range 500 {
		shards, width := 1+chance.IntN(5), 1+chance.IntN(3)
		var words []string
		for range shards {
			word := ""
			for range width {
				word += string(rune('a' + chance.IntN(4)))
			}
			words = append(words, word)
		}
		nodes := placed(strings.Join(words, " "))
		chosen, best := FirstPrimaries(nodes, shards), shards
		for choice := range pow(width, shards) {
			var other []string
			for shard := range shards {
				other = append(other, fmt.Sprintf("%d-%d", shard, choice%width))
				choice /= width
			}
			best = min(best, only(nodes, other))
		}
		if most := only(nodes, chosen); most != best || slices.Contains(chosen, "") {
			t.Fatalf("%v: %v puts %d on one machine, %d is possible", words, chosen, most, best)
		}
	}
}

func pow(base, exponent int) int {
	if exponent == 0 {
		return 1
	}
	return base * pow(base, exponent-1)
}
