package spec

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document is one service of a compose file, field by field. Texts are in quotes, because compose tools read YAML 1.1, where
// no and 1:30 are none; and each dollar is doubled, because they take it for a variable of the device.
type document struct{ fields []*yaml.Node }

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: strings.ReplaceAll(text, "$", "$$")}
}

func name(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

func (d *document) put(field string, value *yaml.Node) {
	d.fields = append(d.fields, name(field), value)
}

// text puts a text, unless it is empty.
func (d *document) text(field, value string) {
	if value != "" {
		d.put(field, scalar(value))
	}
}

// yes puts true, or nothing.
func (d *document) yes(field string, is bool) {
	if is {
		d.put(field, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"})
	}
}

// list puts texts, unless there are none.
func (d *document) list(field string, values []string) {
	if len(values) == 0 {
		return
	}
	node := &yaml.Node{Kind: yaml.SequenceNode}
	for _, v := range values {
		node.Content = append(node.Content, scalar(v))
	}
	d.put(field, node)
}

// mapping puts names and values, unless there are none. Names hold no dollar.
func (d *document) mapping(field string, names []string, values map[string]string) {
	if len(names) == 0 {
		return
	}
	node := &yaml.Node{Kind: yaml.MappingNode}
	for _, n := range names {
		key := scalar(n)
		node.Content = append(node.Content, key, scalar(values[n]))
	}
	d.put(field, node)
}

// file is the compose file whose only service this is.
func (d *document) file(service string) string {
	of := func(key *yaml.Node, value *yaml.Node) *yaml.Node {
		return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, value}}
	}
	root := of(name("services"), of(scalar(service), &yaml.Node{Kind: yaml.MappingNode, Content: d.fields}))
	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil { // nodes of our own making, into memory
		panic(err)
	}
	return out.String()
}
