package bulk

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	pairs     = 4
	countedBy = "counted"
)

// Count makes pairs of objects of two kinds, and sets A to n, then B to n, and so on until stop is called. So at
// every moment B ≤ A ≤ B+1. It returns how many objects it has made.
func Count(t testing.TB, c client.Client, namespace string) (objects int, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	writers, ctx := errgroup.WithContext(ctx)
	for i := range pairs {
		name := metav1.ObjectMeta{Namespace: namespace, Name: pair(i)}
		a, b := &corev1.ConfigMap{ObjectMeta: name}, &corev1.ServiceAccount{ObjectMeta: name}
		for _, obj := range []client.Object{a, b} {
			if err := c.Create(ctx, obj); err != nil {
				t.Fatal(err)
			}
		}
		writers.Go(func() error { return count(ctx, c, a, b) })
	}
	return 2 * pairs, func() {
		cancel()
		if err := writers.Wait(); err != nil {
			t.Error(err)
		}
	}
}

func pair(i int) string { return fmt.Sprintf("pair-%d", i) }

func count(ctx context.Context, c client.Client, objects ...client.Object) error {
	for n := 1; ctx.Err() == nil; n++ {
		for _, obj := range objects {
			obj.SetAnnotations(map[string]string{countedBy: strconv.Itoa(n)})
			if err := c.Update(ctx, obj); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
	return nil
}

// Torn says which pair is not as it can ever have been.
func Torn(objects []*unstructured.Unstructured) error {
	counts := map[string]map[string]int{"ConfigMap": {}, "ServiceAccount": {}}
	for _, obj := range objects {
		if n, err := strconv.Atoi(obj.GetAnnotations()[countedBy]); err == nil {
			counts[obj.GetKind()][obj.GetName()] = n
		}
	}
	for i := range pairs {
		a, b := counts["ConfigMap"][pair(i)], counts["ServiceAccount"][pair(i)]
		if b > a || a > b+1 {
			return fmt.Errorf("%s: A is %d, B is %d", pair(i), a, b)
		}
	}
	return nil
}
