package capture

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

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const (
	pairs = 4  // of objects of two kinds
	cuts  = 20 // captures while they are written
)

// counter is a pair of objects of two kinds. First A is set to n, then B: so at every moment
// B ≤ A ≤ B+1.
type counter struct {
	a *corev1.ConfigMap
	b *corev1.ServiceAccount
}

const countedBy = "counted"

// write counts until ctx ends.
func (p counter) write(ctx context.Context, c client.Client) error {
	for n := 1; ctx.Err() == nil; n++ {
		for _, obj := range []client.Object{p.a, p.b} {
			obj.SetAnnotations(map[string]string{countedBy: strconv.Itoa(n)})
			if err := c.Update(ctx, obj); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
	return nil
}

// torn says which pair is not as it can ever have been.
func torn(objects []*unstructured.Unstructured) error {
	counts := map[string]map[string]int{"ConfigMap": {}, "ServiceAccount": {}}
	for _, obj := range objects {
		if n, err := strconv.Atoi(obj.GetAnnotations()[countedBy]); err == nil {
			counts[obj.GetKind()][obj.GetName()] = n
		}
	}
	for i := range pairs {
		name := fmt.Sprintf("pair-%d", i)
		a, b := counts["ConfigMap"][name], counts["ServiceAccount"][name]
		if b > a || a > b+1 {
			return fmt.Errorf("%s: A is %d, B is %d", name, a, b)
		}
	}
	return nil
}

func TestEveryCaptureIsOfOneMoment(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	harness.NewManager(t, b, area).Start()
	tenant(t, c, namespace)
	ctx, stop := context.WithCancel(t.Context())
	writers, ctx := errgroup.WithContext(ctx)
	for i := range pairs {
		p := counter{configMap(namespace, fmt.Sprintf("pair-%d", i)), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("pair-%d", i)}}}
		create(t, c, p.a)
		create(t, c, p.b)
		writers.Go(func() error { return p.write(ctx, c) })
	}
	moved := 0
	last := ""
	for i := range cuts {
		r := mcr(namespace, fmt.Sprintf("cut-%d", i), capturev1.ManifestCaptureRequestSpec{Selector: of("configmaps", "serviceaccounts")})
		create(t, c, r)
		succeeded(t, c, r)
		_, objects, err := captured(t.Context(), c, r)
		if err != nil {
			t.Fatal(err)
		}
		if err := torn(objects); err != nil {
			t.Errorf("cut %d is torn: %v", i, err)
		}
		if r.Status.ResourceVersion != last {
			moved++
		}
		last = r.Status.ResourceVersion
	}
	stop()
	if err := writers.Wait(); err != nil {
		t.Fatal(err)
	}
	if moved != cuts {
		t.Errorf("%d moments in %d cuts", moved, cuts)
	}
}
