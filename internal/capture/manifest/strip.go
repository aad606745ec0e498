package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// kept are the fields of metadata that a user writes. The namespace is not among them: a
// restore is into its own. Finalizers are not: who put them is not asked again.
var kept = []string{"name", "generateName", "labels", "annotations", "ownerReferences"}

// foreign are annotations that controllers write about one object in one cluster.
var foreign = []string{
	"deployment.kubernetes.io/revision",
	"pv.kubernetes.io/bind-completed",
	"pv.kubernetes.io/bound-by-controller",
	"volume.beta.kubernetes.io/storage-provisioner",
	"volume.kubernetes.io/storage-provisioner",
	"volume.kubernetes.io/selected-node",
	"control-plane.alpha.kubernetes.io/leader",
	"endpoints.kubernetes.io/last-change-trigger-time",
	"batch.kubernetes.io/job-tracking",
	capturev1.RestoreAnnotation, // or a restorer would take the claim for its own
}

// document is the object as it is captured: what a user could have written.
func (o object) document() ([]byte, error) {
	var b bytes.Buffer
	version := o.Version
	if o.Group != "" {
		version = o.Group + "/" + o.Version
	}
	fmt.Fprintf(&b, `{"apiVersion":%q,"kind":%q,"metadata":{`, version, o.Kind)
	if err := o.metadata(&b); err != nil {
		return nil, err
	}
	b.WriteByte('}')
	for _, f := range o.fields {
		switch f.name {
		case "apiVersion", "kind", "metadata", "status":
			continue
		case "spec":
			changed, err := stripSpec(o, f.value)
			if err != nil {
				return nil, fmt.Errorf("strip spec: %w", err)
			}
			f.value = changed
		case "secrets":
			if o.Title() == "serviceaccounts" { // they name tokens
				continue
			}
		}
		write(&b, f)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// write writes a field after another.
func write(b *bytes.Buffer, f field) {
	if last := b.Bytes()[b.Len()-1]; last != '{' {
		b.WriteByte(',')
	}
	b.WriteByte('"')
	b.WriteString(f.name)
	b.WriteString(`":`)
	b.Write(f.value)
}

func (o object) metadata(b *bytes.Buffer) error {
	for _, f := range o.meta {
		if !slices.Contains(kept, f.name) {
			continue
		}
		if f.name == "annotations" && slices.ContainsFunc(foreign, func(a string) bool { return bytes.Contains(f.value, []byte(a)) }) {
			var annotations map[string]string
			if err := as(f.value, &annotations); err != nil {
				return fmt.Errorf("read annotations: %w", errSyntax)
			}
			for _, a := range foreign {
				delete(annotations, a)
			}
			if len(annotations) == 0 {
				continue
			}
			var err error
			if f.value, err = json.Marshal(annotations); err != nil {
				return fmt.Errorf("write annotations: %w", err)
			}
		}
		write(b, f)
	}
	return nil
}

// strippers take out of specs what the cluster filled in for this very object.
var strippers = map[string]func(map[string]any){
	"services":               stripService,
	"persistentvolumeclaims": stripClaim,
	"jobs.batch":             stripJob,
	"pods":                   stripPod,
}

// stripClaim takes the volume out, and what that was once made from: a claim whose data was captured gets those, and one
// that comes back empty must not be filled with what was there before.
func stripClaim(spec map[string]any) {
	delete(spec, "volumeName")
	delete(spec, "dataSource")
	delete(spec, "dataSourceRef")
}

func stripSpec(o object, raw []byte) ([]byte, error) {
	strip := strippers[o.Title()]
	if strip == nil {
		return raw, nil
	}
	var spec map[string]any
	if err := as(raw, &spec); err != nil {
		return nil, err
	}
	strip(spec)
	return json.Marshal(spec)
}

func stripService(spec map[string]any) {
	if spec["clusterIP"] != "None" {
		delete(spec, "clusterIP")
		delete(spec, "clusterIPs")
	}
	delete(spec, "healthCheckNodePort")
	ports, _ := spec["ports"].([]any)
	for _, p := range ports {
		if port, is := p.(map[string]any); is {
			delete(port, "nodePort")
		}
	}
}

// stripJob takes out what ties a Job to the pods of its former self.
func stripJob(spec map[string]any) {
	if manual, _ := spec["manualSelector"].(bool); manual {
		return
	}
	delete(spec, "selector")
	template, _ := spec["template"].(map[string]any)
	metadata, _ := template["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	for _, l := range []string{"controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name"} {
		delete(labels, l)
	}
}

// tokenVolume is what the names of volumes begin with that admission adds to every pod.
const tokenVolume = "kube-api-access-"

// stripPod takes out where the pod ran, what admission computes anew, and the containers that somebody has added to the
// running pod: a pod cannot be created with such.
func stripPod(spec map[string]any) {
	for _, field := range []string{"nodeName", "ephemeralContainers", "priority", "preemptionPolicy"} {
		delete(spec, field)
	}
	isToken := func(v any) bool {
		named, _ := v.(map[string]any)
		name, _ := named["name"].(string)
		return strings.HasPrefix(name, tokenVolume)
	}
	without := func(in map[string]any, key string) {
		if list, is := in[key].([]any); is {
			in[key] = slices.DeleteFunc(list, isToken)
		}
	}
	without(spec, "volumes")
	for _, group := range []string{"containers", "initContainers"} {
		containers, _ := spec[group].([]any)
		for _, c := range containers {
			if container, is := c.(map[string]any); is {
				without(container, "volumeMounts")
			}
		}
	}
}
