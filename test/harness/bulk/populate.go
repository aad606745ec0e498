package bulk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	atOnce      = 24
	wordsOfEach = 40
)

// Populate makes so many objects of each kind, once all kinds are served.
func Populate(t testing.TB, config *rest.Config, namespace string, each int) {
	t.Helper()
	config.QPS = -1
	admin, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range Kinds() {
		harness.Eventually(t, timeout.Wait, 100*time.Millisecond, func() error {
			_, err := admin.Resource(k.GroupVersionResource).Namespace(namespace).List(t.Context(), metav1.ListOptions{Limit: 1})
			return err
		})
	}
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(atOnce)
	for i, k := range Kinds() {
		for n := range each {
			g.Go(func() error { return k.create(ctx, admin, namespace, i, n) })
		}
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

func (k Kind) create(ctx context.Context, admin dynamic.Interface, namespace string, i, n int) error {
	r := rand.New(rand.NewPCG(uint64(i), uint64(n))) //nolint:gosec // the same text every time
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	for field, value := range k.fields(prose(r, wordsOfEach)) {
		obj.Object[field] = value
	}
	obj.SetGroupVersionKind(k.GroupVersion().WithKind(k.Name))
	obj.SetName(fmt.Sprintf("object-%d", n))
	_, err := admin.Resource(k.GroupVersionResource).Namespace(namespace).Create(ctx, obj, metav1.CreateOptions{})
	return err
}

// prose is text that compresses as configuration does.
func prose(r *rand.Rand, words int) string {
	var b strings.Builder
	for range words {
		fmt.Fprintf(&b, "setting-%d=%d\n", r.IntN(500), r.IntN(1_000_000))
	}
	return b.String()
}
