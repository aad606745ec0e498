package action

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// maxKeys is how many keys an object may have: a status lists no more fields.
const maxKeys = 64

// integer is the form of a JSON integer: neither fraction nor exponent, because 1e3 and 1.0 are
// integers to some readers and not to others.
var integer = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// checkValue reads one parameter.
func checkValue(p remediationv1.Parameter, raw []byte) (any, error) {
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0, string(raw) == "null":
		return nil, refuse("Parameter %s has no value.", p.Name)
	case len(raw) > maxRaw:
		return nil, refuse("Parameter %s takes more than %d bytes.", p.Name, maxRaw)
	}
	switch p.Type {
	case remediationv1.TypeString:
		return checkString(p, raw)
	case remediationv1.TypeInteger:
		return checkInteger(p, raw)
	case remediationv1.TypeBoolean:
		return checkBoolean(p, raw)
	case remediationv1.TypeObject:
		return checkObject(p, raw)
	}
	return nil, refuse("The action's definition gives parameter %s the unknown type %q.", p.Name, cut(string(p.Type), 64))
}

func checkInteger(p remediationv1.Parameter, raw []byte) (any, error) {
	if !integer.Match(raw) {
		return nil, refuse("Parameter %s must be an integer without fraction or exponent.", p.Name)
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	switch {
	case err != nil:
		return nil, refuse("Parameter %s is beyond the integers of 64 bits.", p.Name)
	case p.Minimum != nil && n < *p.Minimum:
		return nil, refuse("Parameter %s is %d, and %d is the least.", p.Name, n, *p.Minimum)
	case p.Maximum != nil && n > *p.Maximum:
		return nil, refuse("Parameter %s is %d, and %d is the most.", p.Name, n, *p.Maximum)
	}
	return n, nil
}

func checkBoolean(p remediationv1.Parameter, raw []byte) (any, error) {
	switch string(raw) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return nil, refuse("Parameter %s must be true or false.", p.Name)
}

func checkString(p remediationv1.Parameter, raw []byte) (any, error) {
	var s *string
	if err := json.Unmarshal(raw, &s); err != nil || s == nil {
		return nil, refuse("Parameter %s must be a string.", p.Name)
	}
	t, err := textOf(p)
	if err != nil {
		return nil, err
	}
	if err := t.check("Parameter "+p.Name, *s); err != nil {
		return nil, err
	}
	if len(p.Enum) > 0 && !slices.Contains(p.Enum, *s) {
		return nil, refuse("Parameter %s is none of its allowed values: %q.", p.Name, p.Enum)
	}
	return *s, nil
}

// checkObject reads a flat map. Go reads a null in it as an empty string, which the requester did not ask for.
func checkObject(p remediationv1.Parameter, raw []byte) (any, error) {
	var given map[string]*string
	if err := json.Unmarshal(raw, &given); err != nil || given == nil {
		return nil, refuse("Parameter %s must be an object whose values are strings.", p.Name)
	}
	out := make(map[string]string, len(given))
	for key, value := range given {
		if value == nil {
			return nil, refuse("Parameter %s has a key without a value.", p.Name)
		}
		out[key] = *value
	}
	if len(out) > maxKeys {
		return nil, refuse("Parameter %s has %d keys, and %d are the most.", p.Name, len(out), maxKeys)
	}
	if sizeOf(out) > maxParameters { // before patterns are matched against it
		return nil, tooLarge()
	}
	return out, checkTexts(p, out)
}

func checkTexts(p remediationv1.Parameter, values map[string]string) error {
	t, err := textOf(p)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if err := (text{length: defaultLength}).check("A key of parameter "+p.Name, key); err != nil {
			return err
		}
		if err := t.check("Key "+key+" of parameter "+p.Name, values[key]); err != nil {
			return err
		}
	}
	return nil
}
