package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/internal/areas"
)

// generated is the folder of templates that are written here; those by hand lie beside it.
const generated = source + "/templates/generated"

// common is the name under which manifests of no area lie.
const common = "statecraft"

// writeTemplates makes a template of every manifest: the same text for the namespace of the release.
func writeTemplates() error {
	if err := os.RemoveAll(generated); err != nil { // a manifest that is gone must not leave its template behind
		return fmt.Errorf("remove templates: %w", err)
	}
	if err := writeFolder(common, config.Roles, ""); err != nil {
		return err
	}
	for _, a := range areas.All() {
		on := ".Values.areas." + a.Name + ".enabled"
		for folder, on := range map[string]string{config.Kinds: "and " + on + " .Values.crds.install", config.Roles: on, config.Policies: on, config.Defaults: on} {
			if err := writeFolder(a.Name, folder, on); err != nil {
				return err
			}
		}
		for _, account := range a.Beside {
			if err := writeFolder(account, config.Roles, on); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeFolder makes the templates of a folder, switched by an expression; without one they are always installed.
func writeFolder(owner, folder, on string) error {
	files, err := config.Files(folder, owner, inRelease)
	if err != nil {
		return err
	}
	for _, file := range files {
		// Helm looks up every kind before it installs anything, so what is of our own kinds is made by the managers.
		if folder == config.Defaults && bytes.Contains(file.Content, []byte(".statecraft.dev/v1alpha1\nkind:")) {
			continue
		}
		w := wrapOf(owner+"/"+file.Name, on)
		path := filepath.Join(generated, owner, folder+"-"+file.Name)
		if err := writeFile(path, w.template(folder, owner, file)); err != nil {
			return err
		}
	}
	return nil
}

// inRelease takes the place of the namespace until braces are escaped.
const inRelease = "NAMESPACE-OF-THE-RELEASE"

func (w wrap) template(folder, owner string, file config.File) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "{{- /* Generated from config/%s/%s/%s; do not edit. */}}\n", folder, owner, file.Name)
	writeLine(&out, w.begin)
	text := strings.ReplaceAll(string(file.Content), "{{", `{{ "{{" }}`)
	if folder == config.Kinds {
		text = keep(text)
	}
	if !strings.HasPrefix(text, "---") {
		out.WriteString("---\n")
	}
	// Alone it is quoted: the name of a namespace may read as a number.
	text = strings.ReplaceAll(text, "namespace: "+inRelease+"\n", "namespace: {{ "+w.namespace+" | quote }}\n")
	text = strings.ReplaceAll(text, inRelease, "{{ "+w.namespace+" }}")
	text = strings.NewReplacer(w.replace...).Replace(text)
	out.WriteString(strings.TrimRight(text, "\n") + "\n")
	writeLine(&out, w.end)
	return out.Bytes()
}

func writeLine(out *bytes.Buffer, line string) {
	if line != "" {
		out.WriteString(line + "\n")
	}
}

// keep lets a CRD outlive the release: with it all objects of its kind would go.
func keep(crd string) string {
	const annotations = "  annotations:\n"
	return strings.Replace(crd, annotations, annotations+"    helm.sh/resource-policy: keep\n", 1)
}

func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}
