package spec

import (
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/edge/entry"
)

// Config is a config entry of Flight Control: files on the device.
type Config struct {
	Name   string `json:"name"`
	Inline []File `json:"inline"`
}

// File is one file on the device.
type File struct {
	Path            string `json:"path"`
	Content         string `json:"content"`
	ContentEncoding string `json:"contentEncoding,omitempty"` // plain, if empty
	Mode            int32  `json:"mode"`
}

const (
	base64Encoding = "base64"
	// largest is the most that Flight Control takes of one file, as it is sent.
	largest = 1 << 20
	// placeholder makes the folder of a volume without files: there would be nothing to mount, which would stop every
	// other change of the device. No key of a ConfigMap begins with two dots.
	placeholder     = "..empty"
	placeholderMode = 0o444
)

// volumeFiles are the files of one ConfigMap volume, by their path in the volume.
type volumeFiles map[string]File

// filesOf are the files of a mounted ConfigMap volume, or why they cannot be sent yet.
func filesOf(s subject, v corev1.Volume) (files volumeFiles, missing []string) {
	from, cm := v.ConfigMap, s.from.ConfigMaps[v.ConfigMap.Name]
	files = volumeFiles{}
	if cm == nil {
		if !optional(from.Optional) {
			missing = append(missing, missingConfigMap(s, from.Name, ""))
		}
		return files, missing
	}
	items := from.Items
	if len(items) == 0 {
		keys := slices.Concat(slices.Collect(maps.Keys(cm.Data)), slices.Collect(maps.Keys(cm.BinaryData)))
		slices.Sort(keys)
		for _, k := range keys {
			items = append(items, corev1.KeyToPath{Key: k, Path: k})
		}
	}
	for _, item := range items {
		content, is := contentOf(cm, item.Key)
		if !is {
			if !optional(from.Optional) {
				missing = append(missing, missingConfigMap(s, from.Name, item.Key))
			}
			continue
		}
		files[path.Clean(item.Path)] = newFile(content, item.Mode, from.DefaultMode)
	}
	return files, missing
}

func missingConfigMap(s subject, name, key string) string {
	return missing("ConfigMap", s.pod.Namespace, name, key)
}

func contentOf(cm *corev1.ConfigMap, key string) (content []byte, is bool) {
	if text, is := cm.Data[key]; is {
		return []byte(text), true
	}
	content, is = cm.BinaryData[key]
	return content, is
}

func newFile(content []byte, modes ...*int32) File {
	f := File{Content: string(content), Mode: 0o644}
	if !plain(f.Content) {
		f.Content, f.ContentEncoding = base64.StdEncoding.EncodeToString(content), base64Encoding
	}
	for _, mode := range modes {
		if mode != nil {
			f.Mode = *mode
			break
		}
	}
	return f
}

// plain says that a content is one that JSON and the database of Flight Control carry as it is.
func plain(content string) bool {
	return utf8.ValidString(content) && !strings.ContainsRune(content, 0)
}

// folderOf is where the files of a volume lie on the device.
func folderOf(pod *corev1.Pod, volume string) string {
	return path.Join(entry.Folder(pod.UID), volume)
}

// configOf lays the files of all mounted ConfigMap volumes on the device; nil if there are none.
func configOf(s subject, name string, volumes map[string]volumeFiles) (config *Config, refused []string) {
	for _, volume := range slices.Sorted(maps.Keys(volumes)) {
		if config == nil {
			config = &Config{Name: name}
		}
		files := volumes[volume]
		if len(files) == 0 {
			files = volumeFiles{placeholder: {Mode: placeholderMode}}
		}
		for _, p := range slices.Sorted(maps.Keys(files)) {
			f := files[p]
			if f.Path = path.Join(folderOf(s.pod, volume), p); len(f.Content) > largest {
				refused = append(refused, fmt.Sprintf("file %s of volume %s: Flight Control takes no file of more than 1 MiB", p, volume))
			}
			config.Inline = append(config.Inline, f)
		}
	}
	return config, refused
}

// has says that a path of a volume is a file, or a folder with files.
func (files volumeFiles) has(p string) bool {
	for file := range files {
		if file == p || strings.HasPrefix(file, p+"/") {
			return true
		}
	}
	return false
}
