package kube

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// watching is an OptionalWatch of some user, and what it told.
type watching struct {
	*testing.T
	*kube.OptionalWatch
	mu   sync.Mutex
	told []string
}

func newWatching(t *testing.T, cfg *rest.Config) *watching {
	t.Helper()
	web, err := rest.HTTPClientFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	mapper, err := apiutil.NewDynamicRESTMapper(cfg, web)
	if err != nil {
		t.Fatal(err)
	}
	names, err := metadata.NewForConfigAndClient(cfg, web)
	if err != nil {
		t.Fatal(err)
	}
	w := &watching{T: t}
	w.OptionalWatch = kube.NewOptionalWatch(names, mapper, func(gvk schema.GroupVersionKind, obj *metav1.PartialObjectMetadata) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.told = append(w.told, gvk.Kind+" "+obj.Name+" "+string(obj.UID))
	})
	return w
}

func (w *watching) start() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- w.Start(ctx) }()
	w.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			w.Error(err)
		}
	})
}

// sees waits until the watch says this of an object.
func (w *watching) sees(gvk schema.GroupVersionKind, obj client.Object, want read.Sight) {
	w.Helper()
	harness.Eventually(w, soon, poll, func() error {
		there, got := w.Look(gvk, client.ObjectKeyFromObject(obj))
		if got != want || want == read.SightHere && there.UID != obj.GetUID() {
			return fmt.Errorf("%s %s is %s, want %s", gvk.Kind, obj.GetName(), got, want)
		}
		return nil
	})
}

func (w *watching) heard(what string) {
	w.Helper()
	harness.Eventually(w, soon, poll, func() error {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, told := range w.told {
			if told == what {
				return nil
			}
		}
		return fmt.Errorf("was told %v, not %s", w.told, what)
	})
}

var configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

func TestOptionalWatchOfAKindThatComesAndGoes(t *testing.T) {
	b := lamps(t)
	c, namespace := newClient(t, b.Config()), bedtest.Namespace(t, b)
	crd, gvk := ghosts("optional")
	ghost := ghostOf(gvk, namespace, "a")
	w := newWatching(t, b.Config())
	if _, sight := w.Look(gvk, client.ObjectKeyFromObject(ghost)); sight != read.SightUnknown {
		t.Errorf("not started, and yet %s", sight)
	}
	w.start()
	w.sees(gvk, ghost, read.SightUnknown)

	create(t, c, crd)
	w.sees(gvk, ghost, read.SightAbsent) // an empty kind is known to be empty
	create(t, c, ghost)
	w.sees(gvk, ghost, read.SightHere)
	w.heard("Ghost a " + string(ghost.GetUID()))

	// Made anew under the same name: both are told, and the old one is not here.
	old := ghost.DeepCopy()
	if err := c.Delete(t.Context(), ghost); err != nil {
		t.Fatal(err)
	}
	ghost = ghostOf(gvk, namespace, "a")
	create(t, c, ghost)
	w.sees(gvk, ghost, read.SightHere)
	w.heard("Ghost a " + string(ghost.GetUID()))
	if there, sight := w.Look(gvk, client.ObjectKeyFromObject(old)); sight == read.SightHere && there.UID == old.GetUID() {
		t.Error("the old one is still here")
	}

	if err := c.Delete(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	w.sees(gvk, ghost, read.SightUnknown)
	crd, _ = ghosts("optional")
	harness.Eventually(t, soon, poll, func() error { return c.Create(t.Context(), crd) })
	w.sees(gvk, ghost, read.SightAbsent)
}

func TestOptionalWatchOfAKindThatIsForbidden(t *testing.T) {
	b := lamps(t)
	c, namespace := newClient(t, b.Config()), bedtest.Namespace(t, b)
	user := "watcher-" + namespace
	cm := create(t, c, &corev1.ConfigMap{ObjectMeta: objectMeta(namespace, "seen", nil)})
	w := newWatching(t, b.ConfigFor(user))
	w.start()
	w.sees(configMaps, cm, read.SightUnknown)

	grant := func() *rbacv1.ClusterRoleBinding {
		return create(t, c, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: user},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		})
	}
	binding := grant()
	t.Cleanup(func() { _ = c.Delete(context.Background(), binding) }) // it is gone if the test got that far
	w.sees(configMaps, cm, read.SightHere)

	// Taken back: a watch that runs is not cut by the server, so the kind is asked
	// anew, once the server has learnt of it. Nothing has changed meanwhile, and no
	// event says that it may be read again.
	if err := c.Delete(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	asUser := newClient(t, b.ConfigFor(user))
	harness.Eventually(t, soon, poll, func() error {
		if err := asUser.Get(t.Context(), client.ObjectKeyFromObject(cm), &corev1.ConfigMap{}); !apierrors.IsForbidden(err) {
			return fmt.Errorf("not forbidden: %w", err)
		}
		return nil
	})
	w.Keep(func(schema.GroupVersionKind) bool { return false })
	w.sees(configMaps, cm, read.SightUnknown)
	binding = grant()
	w.sees(configMaps, cm, read.SightHere)
	w.sees(configMaps, &corev1.ConfigMap{ObjectMeta: objectMeta(namespace, "absent", nil)}, read.SightAbsent)
}

func TestOptionalWatchEndsWhatIsNotWanted(t *testing.T) {
	b := lamps(t)
	c, namespace := newClient(t, b.Config()), bedtest.Namespace(t, b)
	cm := create(t, c, &corev1.ConfigMap{ObjectMeta: objectMeta(namespace, "seen", nil)})
	secrets := schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	absent := &corev1.Secret{ObjectMeta: objectMeta(namespace, "absent", nil)}
	before := informerGoroutines()
	w := newWatching(t, b.Config())
	w.start()
	w.sees(configMaps, cm, read.SightHere)
	one := informerGoroutines()
	if one == before {
		t.Fatal("cannot tell an informer from none")
	}
	w.sees(secrets, absent, read.SightAbsent)
	w.Keep(func(gvk schema.GroupVersionKind) bool { return gvk == configMaps })
	w.goroutines(one)
	w.sees(configMaps, cm, read.SightHere)
	w.Keep(func(schema.GroupVersionKind) bool { return false })
	w.goroutines(before)
	w.sees(configMaps, cm, read.SightHere) // wanted again
}

func (w *watching) goroutines(most int) {
	w.Helper()
	harness.Eventually(w, soon, poll, func() error {
		if n := informerGoroutines(); n > most {
			return fmt.Errorf("%d goroutines of informers, want %d", n, most)
		}
		return nil
	})
}

// informerGoroutines counts the goroutines that run informers.
func informerGoroutines() int {
	stacks := make([]byte, 4<<20)
	n := 0
	for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if strings.Contains(stack, "k8s.io/client-go/tools/cache.") {
			n++
		}
	}
	return n
}
