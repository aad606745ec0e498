package spec

import "strings"

// expand replaces $(NAME) by the value of the variable, as kubelets do: one that is not known stays as it is written, and
// $$ is one dollar.
func expand(text string, variables map[string]string) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 || i+1 == len(text) {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(text[:i])
		text = text[i+1:]
		if text[0] == '$' {
			out.WriteByte('$')
			text = text[1:]
			continue
		}
		name, rest, is := strings.Cut(text[1:], ")")
		if text[0] != '(' || !is {
			out.WriteString("$" + text[:1])
			text = text[1:]
			continue
		}
		if value, known := variables[name]; known {
			out.WriteString(value)
		} else {
			out.WriteString("$(" + name + ")")
		}
		text = rest
	}
}
