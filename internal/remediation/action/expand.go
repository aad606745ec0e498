package action

import (
	"strconv"
	"strings"
)

// Expand are the args of the container of a user's image: each argument of the definition is a
// literal, or exactly one reference whose value becomes one argument. Nothing is spliced into text,
// so no value can become a second argument or a part of another.
func Expand(args []string, p Params, t Target) ([]string, error) {
	out := make([]string, len(args))
	for i, arg := range args {
		inner, isReference := reference(arg)
		switch {
		case isReference:
			value, err := resolve(inner, p, t)
			if err != nil {
				return nil, err
			}
			out[i] = value
		case strings.Contains(arg, "$("):
			return nil, refuse("Argument %q of the action's definition has a reference within text: a reference must be an argument of its own.", cut(arg, maxState))
		default:
			out[i] = arg
		}
	}
	return literal(out), nil
}

// reference is what is between $( and ) if the whole argument is one reference.
func reference(arg string) (string, bool) {
	inner, opens := strings.CutPrefix(arg, "$(")
	inner, closes := strings.CutSuffix(inner, ")")
	return inner, opens && closes && !strings.ContainsAny(inner, "$()")
}

func resolve(name string, p Params, t Target) (string, error) {
	parameter, is := strings.CutPrefix(name, "parameters.")
	if is {
		return argument(parameter, p[parameter])
	}
	value, is := map[string]string{"target.name": t.Name, "target.namespace": t.Namespace, "target.uid": string(t.UID)}[name]
	switch {
	case !is:
		return "", refuse("The action's definition has an argument with the unknown reference $(%s).", cut(name, maxName))
	case strings.HasPrefix(value, "-"): // some kinds allow it in names
		return "", refuse("The target's %s begins with a dash, which the action would take for an option.", strings.TrimPrefix(name, "target."))
	}
	return value, nil
}

// argument is a parameter as one argument.
func argument(name string, value any) (string, error) {
	switch v := value.(type) {
	case string:
		return v, nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case bool:
		return strconv.FormatBool(v), nil
	case map[string]string:
		return string(canonical(v)), nil
	}
	return "", refuse("The action's definition has an argument $(parameters.%s), and the parameter has neither a value nor a default.", cut(name, maxName))
}
