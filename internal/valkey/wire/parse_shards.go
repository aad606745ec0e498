package wire

import "fmt"

// ParseShards reads CLUSTER SHARDS: for each server the smallest ID in its shard.
// It takes the answer as nested lists, or as maps, as the newer protocol has it.
func ParseShards(answer any) (map[string]string, error) {
	list, ok := answer.([]any)
	if !ok {
		return nil, fmt.Errorf("%w: shards are no list", ErrMalformed)
	}
	smallest := map[string]string{}
	for _, entry := range list {
		members, ok := field(entry, "nodes").([]any)
		if !ok {
			return nil, fmt.Errorf("%w: a shard without nodes", ErrMalformed)
		}
		ids := make([]string, 0, len(members))
		least := ""
		for _, m := range members {
			id, ok := field(m, "id").(string)
			if !ok || !isID(id) {
				return nil, fmt.Errorf("%w: a node without an ID", ErrMalformed)
			}
			if least == "" || id < least {
				least = id
			}
			ids = append(ids, id)
		}
		for _, id := range ids {
			if _, twice := smallest[id]; twice {
				return nil, fmt.Errorf("%w: a server is in two shards", ErrMalformed)
			}
			smallest[id] = least
		}
	}
	return smallest, nil
}

// field looks a name up in a map, or in the list of names and values that stands
// for one.
func field(entry any, name string) any {
	switch e := entry.(type) {
	case map[string]any:
		return e[name]
	case []any:
		for i := 0; i+1 < len(e); i += 2 {
			if e[i] == any(name) {
				return e[i+1]
			}
		}
	}
	return nil
}
