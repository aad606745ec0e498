package plugin

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

// pack is the texts of a policy pack, by the ConfigMap that holds them and the key there; files have none.
type pack map[string]map[string]string

// modules are all of it, named as in the cluster.
func (p pack) modules() policy.Pack {
	texts := map[string]string{}
	for source, modules := range p {
		for name, text := range modules {
			if source != "" {
				name = source + "/" + name
			}
			texts[name] = text
		}
	}
	return policy.NewPack(texts)
}

// pack reads the one that the arguments name.
func (o *options) pack(cmd *cobra.Command, args []string, bare bool) (pack, error) {
	p := pack{}
	if len(args) == 0 {
		return p, o.packInForce(cmd.Context(), p)
	}
	if !bare {
		if err := p.addDefaults(); err != nil {
			return nil, err
		}
	}
	if args[0] != "-" {
		return p, p.addDirectory(args[0])
	}
	manifest, err := io.ReadAll(cmd.InOrStdin())
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	return p, p.addManifest("standard input", manifest)
}

// packInForce reads what decides in the cluster.
func (o *options) packInForce(ctx context.Context, p pack) error {
	r, _, err := o.reader()
	if err != nil {
		return err
	}
	list, err := r.typed.CoreV1().ConfigMaps(cmp.Or(o.system, config.Namespace)).List(ctx, metav1.ListOptions{LabelSelector: remediationv1.PolicyLabel + "=true"})
	if err != nil {
		return fmt.Errorf("read the policy pack: %w", err)
	}
	for _, cm := range list.Items {
		p[cm.Name] = cm.Data
	}
	return nil
}

// addDefaults adds the pack that is installed, without its own tests: what somebody adds may well decide otherwise.
func (p pack) addDefaults() error {
	objects, err := config.Objects("remediation", config.Namespace, config.Defaults)
	if err != nil {
		return fmt.Errorf("read the default pack: %w", err)
	}
	if err := p.addObjects(objects); err != nil {
		return err
	}
	for _, modules := range p {
		for name := range modules {
			if strings.HasSuffix(name, policy.TestSuffix) {
				delete(modules, name)
			}
		}
	}
	return nil
}

// addDirectory adds the modules of a directory and those below it, and those in its manifests.
func (p pack) addDirectory(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		ending := filepath.Ext(path)
		if ending != ".rego" && ending != ".yaml" && ending != ".yml" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if ending != ".rego" {
			return p.addManifest(name, text)
		}
		if p[""] == nil {
			p[""] = map[string]string{}
		}
		p[""][filepath.ToSlash(name)] = string(text)
		return nil
	})
}

func (p pack) addManifest(name string, manifest []byte) error {
	objects, err := config.Parse(manifest)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	var all []*unstructured.Unstructured
	for _, o := range objects {
		if !o.IsList() {
			all = append(all, o)
			continue
		}
		err := o.EachListItem(func(item runtime.Object) error {
			if u, is := item.(*unstructured.Unstructured); is {
				all = append(all, u)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
	return p.addObjects(all)
}

// addObjects adds the ConfigMaps that would be parts of the pack. One of a name that is there already takes its place.
func (p pack) addObjects(objects []*unstructured.Unstructured) error {
	for _, o := range objects {
		if o.GetKind() != "ConfigMap" || o.GetLabels()[remediationv1.PolicyLabel] != "true" {
			continue
		}
		data, _, err := unstructured.NestedStringMap(o.Object, "data")
		if err != nil {
			return fmt.Errorf("read ConfigMap %s: %w", o.GetName(), err)
		}
		p[o.GetName()] = data
	}
	return nil
}
