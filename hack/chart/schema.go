package main

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/statecraft-dev/statecraft/internal/areas"
)

//go:embed schema.yaml
var schemaText []byte

// readSchema reads the schema of values with every area in it and every reference filled in. Nodes keep the order of
// the text, which is that of the values.
func readSchema() (*yaml.Node, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(schemaText, &document); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	root := document.Content[0]
	root.HeadComment = ""
	of := child(child(child(root, "properties"), "areas"), "properties")
	digests := child(child(child(child(child(root, "properties"), "image"), "properties"), "digests"), "properties")
	for _, a := range areas.All() {
		for _, image := range append(slices.Sorted(maps.Values(a.Images)), a.Image()) {
			if child(digests, image) == nil {
				set(digests, image, mapping("$ref", text("#/$defs/digest")))
				set(child(digests, image), "description", text("Image of area "+a.Name+"."))
				set(child(digests, image), "default", text(""))
			}
		}
		if child(of, a.Name) == nil {
			set(of, a.Name, mapping("$ref", text("#/$defs/area")))
		}
		set(child(of, a.Name), "description", text("Area "+a.Name+"."))
	}
	fillIn(root, child(root, "$defs"))
	drop(root, "$defs")
	return root, nil
}

// fillIn replaces references by what they refer to, and lets no object have unknown properties.
func fillIn(node, defs *yaml.Node) {
	if ref := child(node, "$ref"); ref != nil {
		def := child(defs, strings.TrimPrefix(ref.Value, "#/$defs/"))
		drop(node, "$ref")
		merge(node, def)
	}
	if child(node, "properties") != nil && child(node, "additionalProperties") == nil {
		set(node, "additionalProperties", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "false"})
	}
	for i := 1; node.Kind == yaml.MappingNode && i < len(node.Content); i += 2 {
		fillIn(node.Content[i], defs)
	}
}

// merge adds what a definition has and node lacks; properties of both come together, those of the definition first.
func merge(node, def *yaml.Node) {
	for i := 0; i < len(def.Content); i += 2 {
		key, value := def.Content[i].Value, def.Content[i+1]
		own := child(node, key)
		switch {
		case own == nil:
			set(node, key, clone(value))
		case key == "properties":
			own.Content = append(clone(value).Content, own.Content...)
		}
	}
}

func child(node *yaml.Node, key string) *yaml.Node {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

func set(node *yaml.Node, key string, value *yaml.Node) {
	drop(node, key)
	node.Content = append(node.Content, text(key), value)
}

func drop(node *yaml.Node, key string) {
	for i := 0; i < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			node.Content = append(node.Content[:i:i], node.Content[i+2:]...)
			return
		}
	}
}

func text(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
}

func mapping(key string, value *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{text(key), value}}
}

func clone(node *yaml.Node) *yaml.Node {
	c := *node
	c.Content = nil
	for _, n := range node.Content {
		c.Content = append(c.Content, clone(n))
	}
	return &c
}
