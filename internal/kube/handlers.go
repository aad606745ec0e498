package kube

import (
	"fmt"
	"net/http"
	"strings"
)

// handlersOf are the paths of all areas. Two areas that want one path are a mistake of ours.
func handlersOf(areas []AreaSetup) (map[string]http.Handler, error) {
	all := map[string]http.Handler{}
	for _, area := range areas {
		for path, handler := range area.Handlers {
			if _, taken := all[path]; taken || path == "/metrics" || !strings.HasPrefix(path, "/") {
				return nil, fmt.Errorf("set up area %s: path %q of the metrics server is taken, or is no path", area.Name, path)
			}
			all[path] = handler
		}
	}
	return all, nil
}
