package device

import (
	"encoding/base64"
	"encoding/json"

	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
)

// MarkOf is the content of the small file of ours on a device, as its spec has it, or as it was rendered. It is changed to make a new
// version, and with each removal of an application that the device does not report: that one may be rendered only now, by a
// worker that has read an older spec. A version with our last mark was made of the spec after it.
func MarkOf(c entry.Cluster, config []fleet.Entry) string {
	for _, e := range config {
		var files struct {
			Inline []struct {
				Path            string `json:"path"`
				Content         string `json:"content"`
				ContentEncoding string `json:"contentEncoding"`
			} `json:"inline"`
		}
		if json.Unmarshal(e.Raw, &files) != nil {
			continue
		}
		for _, f := range files.Inline {
			if f.Path != c.NudgeFile() {
				continue
			}
			if f.ContentEncoding != "base64" {
				return f.Content
			}
			content, err := base64.StdEncoding.DecodeString(f.Content)
			if err != nil {
				return "unreadable"
			}
			return string(content)
		}
	}
	return ""
}
