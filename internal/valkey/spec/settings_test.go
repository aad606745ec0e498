package spec

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
)

func configured(config map[string]valkeyv1.ConfigValue) *valkeyv1.ValkeyCluster {
	c := newCluster()
	c.Spec.Config = config
	return c
}

// Another template is a restart: only what servers cannot change while they run makes one.
func TestOnlyWhatNeedsARestartMakesATemplate(t *testing.T) {
	plain := configured(nil)
	for name, c := range map[string]struct {
		config   map[string]valkeyv1.ConfigValue
		restarts bool
	}{
		"nothing":                      {nil, false},
		"a setting":                    {map[string]valkeyv1.ConfigValue{"hz": "20"}, false},
		"what a server does not know":  {map[string]valkeyv1.ConfigValue{"no-such-thing": "1"}, false},
		"what is read at the start":    {map[string]valkeyv1.ConfigValue{"io-threads": "2"}, true},
		"what is read at the start, 2": {map[string]valkeyv1.ConfigValue{"rdma-rx-size": "2"}, true},
		"both":                         {map[string]valkeyv1.ConfigValue{"hz": "20", "io-threads": "2"}, true},
	} {
		is := configured(c.config)
		if other := builder.TemplateName(is, Variant{}) != builder.TemplateName(plain, Variant{}); other != c.restarts {
			t.Errorf("%s: another template: %v", name, other)
		}
		for directive, value := range c.config {
			if !strings.Contains(Config(is)+liveConfig(is), "\n"+directive+" "+string(value)+"\n") {
				t.Errorf("%s: the file lacks %s", name, directive)
			}
		}
	}
}

func TestLive(t *testing.T) {
	live := Live(configured(map[string]valkeyv1.ConfigValue{"hz": "20", "io-threads": "2", "latency-tracking-info-percentiles": `"50 99"`}))
	if len(live) != 2 || live["hz"] != "20" || live["latency-tracking-info-percentiles"] != "50 99" {
		t.Errorf("%v", live)
	}
}

// What servers have not taken does not reach the file from which they start; all else does.
func TestKeepLive(t *testing.T) {
	was := ConfigMap(configured(map[string]valkeyv1.ConfigValue{"hz": "20", "io-threads": "2"}))
	stamp(was)
	wanted := ConfigMap(configured(map[string]valkeyv1.ConfigValue{"hz": "many", "no-such-thing": "1", "io-threads": "4"}))
	stamp(wanted)
	KeepLive(wanted, was)
	if text := wanted.Data[LiveFile]; !strings.HasSuffix(text, liveHeader+"hz 20\n") || strings.Contains(text, "no-such-thing") {
		t.Errorf("the file is %s", text)
	}
	again := ConfigMap(configured(map[string]valkeyv1.ConfigValue{"hz": "many", "no-such-thing": "1", "io-threads": "4"}))
	stamp(again)
	KeepLive(again, wanted)
	if again.Annotations[AppliedAnnotation] != wanted.Annotations[AppliedAnnotation] {
		t.Error("what was kept is not current")
	}
	if KeepLive(again, nil); strings.Contains(again.Data[LiveFile], "hz") {
		t.Errorf("nothing is there to keep: %s", again.Data[LiveFile])
	}
}

// What a server takes only when it starts is of its pod: an edit of the spec does not reach
// those that were not replaced yet, whatever restarts them.
func TestWhatTakesARestartIsOfThePod(t *testing.T) {
	was := configured(map[string]valkeyv1.ConfigValue{"hz": "10"})
	for what, edit := range map[string]func(*valkeyv1.ValkeyCluster){
		"appendonly no": func(c *valkeyv1.ValkeyCluster) {
			c.Spec.Persistence = valkeyv1.Persistence{Enabled: true, AOF: new(false), RDB: true}
		},
		"io-threads abc": func(c *valkeyv1.ValkeyCluster) { c.Spec.Config["io-threads"] = "abc" },
		"maxmemory 1610612736": func(c *valkeyv1.ValkeyCluster) {
			c.Spec.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")}
		},
	} {
		is := was.DeepCopy()
		edit(is)
		if ConfigMap(is).Data[LiveFile] != ConfigMap(was).Data[LiveFile] {
			t.Errorf("%s is in the file that all servers share", what)
		}
		bears := func(c *valkeyv1.ValkeyCluster) string {
			return Builder{}.StatefulSet(c, 0).Spec.Template.Annotations[configAnnotation]
		}
		if !strings.Contains(bears(is), "\n"+what+"\n") || bears(is) == bears(was) {
			t.Errorf("pods do not bear %s: %s", what, bears(is))
		}
	}
	live := was.DeepCopy()
	live.Spec.Config["hz"], live.Spec.NodeTimeoutSeconds = "20", 30
	if Config(live) != Config(was) || liveConfig(live) == liveConfig(was) {
		t.Error("what is changed while servers run is in their pods")
	}
}
