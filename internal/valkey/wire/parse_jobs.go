package wire

import (
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// ParseSlotMigrations reads CLUSTER GETSLOTMIGRATIONS.
func ParseSlotMigrations(answer any) ([]topology.SlotJob, error) {
	list, ok := answer.([]any)
	if !ok {
		return nil, fmt.Errorf("%w: jobs are no list", ErrMalformed)
	}
	jobs := make([]topology.SlotJob, 0, len(list))
	for _, entry := range list {
		j, err := parseJob(entry)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, nil
}

func parseJob(entry any) (j topology.SlotJob, err error) {
	var operation, slots string
	for name, into := range map[string]*string{
		"name": &j.Name, "operation": &operation, "slot_ranges": &slots, "state": &j.State,
	} {
		text, ok := field(entry, name).(string)
		if !ok {
			return j, fmt.Errorf("%w: a job without %s", ErrMalformed, name)
		}
		*into = text
	}
	// What a replica has followed, and keeps when it becomes a primary, need not name them.
	j.Source, _ = field(entry, "source_node").(string)
	j.Target, _ = field(entry, "target_node").(string)
	j.Message, _ = field(entry, "message").(string)
	j.Created, _ = field(entry, "create_time").(int64)
	j.Remaining, _ = field(entry, "remaining_repl_size").(int64)
	if j.Importing = operation == "IMPORT"; !j.Importing && operation != "EXPORT" {
		return j, fmt.Errorf("%w: %.40q is no operation", ErrMalformed, operation)
	}
	if j.Slots, err = topology.ParseSlots(slots); err != nil {
		err = fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return j, err
}
