package action

// Apply is an object with a JSON merge patch applied to it (RFC 7386). It changes neither.
func Apply(object, patch map[string]any) map[string]any {
	out, _ := merge(object, patch).(map[string]any)
	return out
}

// merge is value with a patch applied to it.
func merge(value, patch any) any {
	changes, is := patch.(map[string]any)
	if !is {
		return clone(patch)
	}
	fields, is := value.(map[string]any)
	if !is {
		fields = nil
	}
	out := make(map[string]any, len(fields))
	for name, field := range fields {
		if _, changes := changes[name]; !changes {
			out[name] = clone(field)
		}
	}
	for name, change := range changes {
		if change != nil {
			out[name] = merge(fields[name], change)
		}
	}
	return out
}

// clone copies a JSON value, so that a plan shares nothing with the target that it was made from.
func clone(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, field := range v {
			out[name] = clone(field)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = clone(v[i])
		}
		return out
	}
	return value
}

// nest is a value below the names of a path.
func nest(value any, path ...string) map[string]any {
	out := map[string]any{path[len(path)-1]: value}
	for i := len(path) - 2; i >= 0; i-- {
		out = map[string]any{path[i]: out}
	}
	return out
}
