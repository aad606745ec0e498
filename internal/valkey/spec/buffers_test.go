package spec

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

// Small servers have buffers that fit, and large ones do not start a copy that their clients' writes would cut off.
func TestBuffersGrowWithTheMemoryLimit(t *testing.T) {
	for limit, want := range map[string]string{
		"":      "repl-backlog-size 64mb|client-output-buffer-limit replica 512mb 256mb 60",
		"32Mi":  "repl-backlog-size 4mb|client-output-buffer-limit replica 64mb 32mb 60",
		"1Gi":   "repl-backlog-size 64mb|client-output-buffer-limit replica 128mb 64mb 60",
		"4Gi":   "repl-backlog-size 256mb|client-output-buffer-limit replica 512mb 256mb 60",
		"100Gi": "repl-backlog-size 1024mb|client-output-buffer-limit replica 12800mb 6400mb 60",
	} {
		c := &valkeyv1.ValkeyCluster{}
		if limit != "" {
			c.Spec.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)}
		}
		var got []string
		for _, s := range settings(c) {
			if s.directive == "repl-backlog-size" || s.directive == "client-output-buffer-limit" {
				got = append(got, s.directive+" "+s.value)
			}
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("a limit of %q: %s, want %s", limit, text, want)
		}
	}
}
