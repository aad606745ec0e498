package setuptest

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/kubetest"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// lamps is an area whose lamps are woken by ConfigMaps, through an index.
func lamps() Wiring {
	return Wiring{
		Area: kube.AreaSetup{Name: "lamps", AddToScheme: kubetest.AddToScheme, Caches: []kube.Cached{
			{Of: &kubetest.Lamp{}}, {Of: &corev1.ConfigMap{}, Labels: kube.HasLabel("lamp")},
		}},
		Wakes:   []kube.Wake{{Name: "settings", Of: &corev1.ConfigMap{}, Find: listing(client.MatchingFields{"by": "a"})}},
		Indexes: []kube.Index{{Of: &kubetest.Lamp{}, Name: "by"}},
		Changed: []func(client.Object){func(obj client.Object) { obj.SetName("a") }},
		Lists:   1,
	}
}

// listing lists lamps whenever an object has a name.
func listing(opts ...client.ListOption) func(context.Context, read.Reader, client.Object) []read.Key {
	return func(ctx context.Context, cached read.Reader, obj client.Object) []read.Key {
		if obj.GetName() != "" {
			_ = cached.List(ctx, &kubetest.LampList{}, opts...)
		}
		return nil
	}
}

func TestPlanted(t *testing.T) {
	for name, c := range map[string]struct {
		plant func(*Wiring)
		want  string
	}{
		"nothing is wrong": {plant: func(*Wiring) {}},
		"a watched kind that is not cached": {func(w *Wiring) { w.Wakes[0].Of = &corev1.Pod{} },
			"wake settings: area lamps does not cache Pod"},
		"an indexed kind that is not cached": {func(w *Wiring) { w.Indexes = append(w.Indexes, kube.Index{Of: &corev1.Pod{}, Name: "by"}) },
			"index by: area lamps does not cache Pod"},
		"a kind that is cached whole": {func(w *Wiring) { w.Area.Caches[1].Labels = nil },
			"every ConfigMap of the cluster would be cached"},
		"a wake that lists all":                  {func(w *Wiring) { w.Wakes[0].Find = listing() }, "all Lamp are listed"},
		"a wake that goes by an index of no one": {func(w *Wiring) { w.Indexes = nil }, "Lamp are listed by by, which is no index"},
		"objects that lead nowhere": {func(w *Wiring) { w.Changed[0] = func(client.Object) {} },
			"only 0 lists were tried"},
	} {
		t.Run(name, func(t *testing.T) {
			w := lamps()
			c.plant(&w)
			err := w.Cached()
			if err == nil {
				err = w.Indexed(t.Context())
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
