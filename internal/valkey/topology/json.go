package topology

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// MarshalJSON writes nodes by the names of their pods, so that a scenario can name
// the one it changes.
func (n Nodes) MarshalJSON() ([]byte, error) {
	byName := make(map[string]Node, len(n))
	for _, m := range n {
		byName[m.Name] = m
	}
	return json.Marshal(byName)
}

// UnmarshalJSON reads what MarshalJSON wrote, in the order of shard and ordinal.
func (n *Nodes) UnmarshalJSON(text []byte) error {
	var byName map[string]Node
	if err := json.Unmarshal(text, &byName); err != nil {
		return err
	}
	*n = slices.SortedFunc(maps.Values(byName), func(a, b Node) int {
		return cmp.Or(a.Shard-b.Shard, a.Ordinal-b.Ordinal)
	})
	return nil
}
