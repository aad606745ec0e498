package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// writeValues writes the schema for Helm, the values with their defaults, and the page that explains them.
func writeValues() error {
	root, err := readSchema()
	if err != nil {
		return err
	}
	var schema bytes.Buffer
	if err := writeJSON(&schema, root); err != nil {
		return err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, schema.Bytes(), "", "  "); err != nil {
		return fmt.Errorf("write schema: %w", err)
	}
	pretty.WriteByte('\n')
	values := bytes.NewBufferString("# Generated from hack/chart/schema.yaml; do not edit. docs/reference/values.md has the same as a table.\n")
	page := bytes.NewBufferString(valuesHead)
	if err := writeProperties(values, page, root, nil); err != nil {
		return err
	}
	for path, content := range map[string][]byte{
		filepath.Join(source, "values.schema.json"): pretty.Bytes(),
		filepath.Join(source, "values.yaml"):        values.Bytes(),
		"docs/reference/values.md":                  page.Bytes(),
	} {
		if err := writeFile(path, content); err != nil {
			return err
		}
	}
	return nil
}

const valuesHead = "# Values of the chart\n\n" +
	"Generated from `hack/chart/schema.yaml`. Helm refuses a value that is not listed here.\n\n" +
	"| value | default | what it is |\n|---|---|---|\n"

// writeProperties writes the properties of an object: those that are objects with properties of their own by a block.
func writeProperties(values, page *bytes.Buffer, object *yaml.Node, above []string) error {
	indent := strings.Repeat("  ", len(above))
	properties := child(object, "properties")
	for i := 0; i < len(properties.Content); i += 2 {
		name, of := properties.Content[i].Value, properties.Content[i+1]
		described := child(of, "description")
		if described == nil {
			return fmt.Errorf("value %s has no description", strings.Join(append(above, name), "."))
		}
		comment(values, indent, described.Value)
		if child(of, "properties") != nil {
			fmt.Fprintf(values, "%s%s:\n", indent, name)
			if err := writeProperties(values, page, of, append(above[:len(above):len(above)], name)); err != nil {
				return err
			}
			continue
		}
		if err := writeValue(values, page, of, append(above[:len(above):len(above)], name)); err != nil {
			return err
		}
	}
	return nil
}

// comment writes words in lines that a terminal has room for.
func comment(out *bytes.Buffer, indent, words string) {
	const width = 100
	line := indent + "#"
	for _, word := range strings.Fields(words) {
		if len(line)+1+len(word) > width {
			fmt.Fprintln(out, line)
			line = indent + "#"
		}
		line += " " + word
	}
	fmt.Fprintln(out, line)
}

// writeValue writes one value with its default.
func writeValue(values, page *bytes.Buffer, of *yaml.Node, path []string) error {
	value := child(of, "default")
	if value == nil {
		return fmt.Errorf("value %s has no default", strings.Join(path, "."))
	}
	indent, name := strings.Repeat("  ", len(path)-1), path[len(path)-1]
	inline := clone(value)
	inline.Style = yaml.FlowStyle
	shown, err := yaml.Marshal(inline)
	if err != nil {
		return fmt.Errorf("write value: %w", err)
	}
	line := strings.TrimSpace(string(shown))
	fmt.Fprintf(values, "%s%s: %s\n", indent, name, line)
	fmt.Fprintf(page, "| `%s` | `%s` | %s |\n", strings.Join(path, "."), line, strings.TrimSpace(child(of, "description").Value))
	return nil
}

// writeJSON writes a node with its keys in their order.
func writeJSON(out *bytes.Buffer, node *yaml.Node) error {
	switch node.Kind {
	case yaml.MappingNode:
		out.WriteByte('{')
		for i := 0; i < len(node.Content); i += 2 {
			if i > 0 {
				out.WriteByte(',')
			}
			fmt.Fprintf(out, "%q:", node.Content[i].Value)
			if err := writeJSON(out, node.Content[i+1]); err != nil {
				return err
			}
		}
		out.WriteByte('}')
		return nil
	case yaml.SequenceNode:
		out.WriteByte('[')
		for i, item := range node.Content {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeJSON(out, item); err != nil {
				return err
			}
		}
		out.WriteByte(']')
		return nil
	}
	var value any
	if err := node.Decode(&value); err != nil {
		return fmt.Errorf("write schema: %w", err)
	}
	content, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("write schema: %w", err)
	}
	out.Write(content)
	return nil
}
