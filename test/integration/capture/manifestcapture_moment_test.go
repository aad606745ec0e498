package capture

import (
	"fmt"
	"testing"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness/bulk"
	"github.com/statecraft-dev/statecraft/test/product"
)

const cuts = 20 // captures while objects are written

func TestEveryCaptureIsOfOneMoment(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b), bedtest.Namespace(t, b)
	product.NewManager(t, b, area).Start()
	tenant(t, c, namespace)
	_, stop := bulk.Count(t, c, namespace)
	moved := 0
	last := ""
	for i := range cuts {
		r := mcr(namespace, fmt.Sprintf("cut-%d", i), capturev1.ManifestCaptureRequestSpec{Selector: of("configmaps", "serviceaccounts")})
		create(t, c, r)
		succeeded(t, c, r)
		_, objects, err := bulk.Captured(t.Context(), c, r)
		if err != nil {
			t.Fatal(err)
		}
		if err := bulk.Torn(objects); err != nil {
			t.Errorf("cut %d is torn: %v", i, err)
		}
		if r.Status.ResourceVersion != last {
			moved++
		}
		last = r.Status.ResourceVersion
	}
	stop()
	if moved != cuts {
		t.Errorf("%d moments in %d cuts", moved, cuts)
	}
}
