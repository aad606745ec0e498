package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Edit is what a device's spec is to have, and not to have, of what one cluster puts there. Everything else in the spec stays
// as it was read, what is not known included.
type Edit struct {
	Applications map[string]json.RawMessage
	Config       map[string]json.RawMessage
	// Remove names applications and config entries.
	Remove []string
}

// Apply edits a device as it was read, and says whether that changes anything. What was read of its status is left away: it is
// the agent's to report.
func (e Edit) Apply(document []byte) (edited []byte, changes bool, err error) {
	root, err := object(document)
	if err != nil {
		return nil, false, fmt.Errorf("%w: device: %w", ErrUnread, err)
	}
	spec, err := object(root["spec"])
	if err != nil {
		return nil, false, fmt.Errorf("%w: spec of device: %w", ErrUnread, err)
	}
	for field, put := range map[string]map[string]json.RawMessage{"applications": e.Applications, "config": e.Config} {
		differs, err := e.list(spec, field, put)
		if err != nil {
			return nil, false, fmt.Errorf("%w: %s of device: %w", ErrUnread, field, err)
		}
		changes = changes || differs
	}
	if root["spec"], err = json.Marshal(spec); err != nil {
		return nil, false, fmt.Errorf("encode spec of device: %w", err)
	}
	delete(root, "status")
	if edited, err = json.Marshal(root); err != nil {
		return nil, false, fmt.Errorf("encode device: %w", err)
	}
	return edited, changes, nil
}

// object reads one level of an object; null and nothing are an empty one.
func object(raw []byte) (map[string]json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if len(raw) == 0 {
		return fields, nil
	}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	if fields == nil { // null
		fields = map[string]json.RawMessage{}
	}
	return fields, nil
}

// list edits one list of a spec. Entries that are replaced keep their place, and others the order that they had.
func (e Edit) list(spec map[string]json.RawMessage, field string, put map[string]json.RawMessage) (changes bool, err error) {
	var was, is []json.RawMessage
	if raw := spec[field]; present(raw) {
		if err := json.Unmarshal(raw, &was); err != nil {
			return false, err
		}
	}
	is, changes = e.edited(was, put)
	if !changes {
		return false, nil
	}
	if len(is) == 0 {
		delete(spec, field)
		return true, nil
	}
	spec[field], err = json.Marshal(is)
	return true, err
}

// edited is a list with what is put, and without what is removed.
func (e Edit) edited(was []json.RawMessage, put map[string]json.RawMessage) (is []json.RawMessage, changes bool) {
	placed := map[string]bool{}
	for _, raw := range was {
		name := nameOf(raw)
		wanted, puts := put[name]
		switch {
		case puts && placed[name], !puts && name != "" && slices.Contains(e.Remove, name):
			changes = true
			continue
		case puts:
			placed[name] = true
			changes = changes || !same(raw, wanted)
			raw = wanted
		}
		is = append(is, raw)
	}
	for _, name := range slices.Sorted(maps.Keys(put)) {
		if !placed[name] {
			is, changes = append(is, put[name]), true
		}
	}
	return is, changes
}

// same compares what two JSON texts mean, with numbers as they are written.
func same(a, b json.RawMessage) bool {
	x, okX := meaning(a)
	y, okY := meaning(b)
	return okX && okY && reflect.DeepEqual(x, y)
}

func meaning(raw json.RawMessage) (value any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return value, d.Decode(&value) == nil
}
