package spec

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/edge/entry"
)

// Application is an application of Flight Control.
type Application struct {
	AppType string            `json:"appType"`
	Name    string            `json:"name"`
	Inline  []ApplicationFile `json:"inline"`
}

// ApplicationFile is one file of an application.
type ApplicationFile struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// compose is the only type of application that has commands, files and a restart policy.
const compose = "compose"

// Conversion is a pod as a device gets it, or why it does not.
type Conversion struct {
	Application *Application // nil if something is refused or missing
	Config      *Config      // nil without files
	// LeftOut are fields without which the pod runs, and says so.
	LeftOut []string
	// Refused are fields because of which the pod is not sent.
	Refused []string
	// Missing is what the pod waits for, in sentences.
	Missing []string
}

// Build converts a pod. The files and values of its ConfigMaps and Secrets are those of now: they are not followed.
func Build(pod *corev1.Pod, of entry.Cluster, from Sources) Conversion {
	s, name := subject{pod, from}, of.Of(pod.UID)
	var out Conversion
	if out.LeftOut, out.Refused = judge(s); len(out.Refused) > 0 {
		return out
	}
	if len(pod.Spec.Containers) == 0 {
		out.Refused = []string{"containers: a pod on a device has one container"}
		return out
	}
	env := environmentOf(s)
	volumes, lacking := volumesOf(s)
	out.LeftOut = append(out.LeftOut, env.leftOut...)
	if out.Missing = unique(env.missing, lacking); len(out.Missing) > 0 {
		return out
	}
	text, unmounted := composeOf(s, env, volumes)
	config, tooLarge := configOf(s, name, volumes)
	out.Refused = slices.Concat(unmounted, tooLarge, unprintable(s, env))
	if len(text) > largest {
		out.Refused = append(out.Refused, "containers[0]: Flight Control takes no compose file of more than 1 MiB")
	}
	if len(out.Refused) == 0 {
		out.Application = &Application{AppType: compose, Name: name, Inline: []ApplicationFile{{ComposeFile, text}}}
		out.Config = config
	}
	return out
}

// volumesOf are the files of all ConfigMap volumes that are mounted.
func volumesOf(s subject) (volumes map[string]volumeFiles, missing []string) {
	volumes = map[string]volumeFiles{}
	for _, v := range s.pod.Spec.Volumes {
		if v.ConfigMap == nil || len(s.mountsOf(v.Name)) == 0 {
			continue
		}
		files, lacking := filesOf(s, v)
		volumes[v.Name] = files
		missing = append(missing, lacking...)
	}
	return volumes, missing
}

func unique(lists ...[]string) (out []string) {
	for _, text := range slices.Concat(lists...) {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// unprintable are texts that no process can be given, and that the database of Flight Control does not store.
func unprintable(s subject, env environment) (refused []string) {
	bad := func(text string) bool { return !plain(text) }
	for _, name := range env.names {
		if bad(env.values[name]) {
			refused = append(refused, fmt.Sprintf("variable %s: its value is no text", name))
		}
	}
	set(reflect.ValueOf(s.container()), leaf{}, func(l leaf) {
		if l.value.Kind() == reflect.String && bad(l.value.String()) {
			refused = append(refused, fmt.Sprintf("containers[0].%s: it is no text", strings.Join(l.found, ".")))
		}
	})
	return refused
}

// ImageOf is the image with which an application was sent, and false of one that is not ours to read.
func ImageOf(application json.RawMessage) (image string, is bool) {
	var app Application
	if json.Unmarshal(application, &app) != nil || len(app.Inline) != 1 || app.Inline[0].Path != ComposeFile {
		return "", false
	}
	var file struct {
		Services map[string]struct {
			Image string `yaml:"image"`
		} `yaml:"services"`
	}
	if yaml.Unmarshal([]byte(app.Inline[0].Content), &file) != nil || len(file.Services) != 1 {
		return "", false
	}
	for _, service := range file.Services {
		image = strings.ReplaceAll(service.Image, "$$", "$")
	}
	return image, image != ""
}
