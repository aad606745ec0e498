package action

import (
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// Params are checked parameters by name. Each is a string, an int64, a bool or a map[string]string.
type Params map[string]any

const (
	// maxParameters bounds all parameters together: they are one argument of the program.
	maxParameters = 16 << 10
	// maxRaw bounds a parameter as it is written: JSON takes at most six bytes for one, as in \u0001.
	maxRaw = 6 * maxParameters
)

// Check reads the parameters that a requester gave, by the list of the action. Its errors are sentences
// for a status.
func Check(list []remediationv1.Parameter, given map[string]apiextensionsv1.JSON) (Params, error) {
	if err := checkNames(list, given); err != nil {
		return nil, err
	}
	out, size := Params{}, 0
	for _, p := range list {
		raw, is := given[p.Name]
		switch {
		case is:
		case p.Default != nil:
			raw = *p.Default
		case p.Required:
			return nil, refuse("Parameter %s is required.", p.Name)
		default:
			continue
		}
		value, err := checkValue(p, raw.Raw)
		if err != nil {
			return nil, err
		}
		out[p.Name] = value
		if size += len(p.Name) + sizeOf(value); size > maxParameters {
			return nil, tooLarge()
		}
	}
	return out, nil
}

func tooLarge() error {
	return refuse("The parameters take more than %d bytes, which is the most for all of them.", maxParameters)
}

func checkNames(list []remediationv1.Parameter, given map[string]apiextensionsv1.JSON) error {
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case slices.Contains(names, name):
		case len(names) == 0:
			return refuse("The action takes no parameters: %q is unknown.", cut(name, 64))
		default:
			return refuse("Parameter %q is unknown; the action takes: %s.", cut(name, 64), strings.Join(names, ", "))
		}
	}
	return nil
}

// JSON is what Check reads the same parameters from.
func (p Params) JSON() map[string]apiextensionsv1.JSON {
	out := make(map[string]apiextensionsv1.JSON, len(p))
	for name, value := range p {
		out[name] = apiextensionsv1.JSON{Raw: canonical(value)}
	}
	return out
}

// sizeOf is how much a value takes, however it is written: one that was accepted is accepted again
// after another program has escaped its characters in another way.
func sizeOf(value any) int {
	switch v := value.(type) {
	case string:
		return len(v)
	case map[string]string:
		n := 0
		for key, text := range v {
			n += len(key) + len(text)
		}
		return n
	}
	return 8
}
