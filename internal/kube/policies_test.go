package kube

import (
	"errors"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/statecraft-dev/statecraft/internal/guard"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// watching looks at the policies of area capture, on a server that has these objects.
func watching(t *testing.T, objects ...client.Object) (*policyWatch, client.Client) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(admissionv1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	env := Env{Client: c, Live: c, Namespace: "statecraft-system"}
	policies, err := env.Policies("capture")
	if err != nil {
		t.Fatal(err)
	}
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "unguarded"})
	return &policyWatch{policies: policies, writer: env.Writer("policies"), unguarded: gauge}, c
}

// installedPolicies are those that area capture ships, each in its first generation.
func installedPolicies(t *testing.T) (objects []client.Object) {
	t.Helper()
	shipped, err := guard.ShippedFor("capture", "statecraft-system")
	if err != nil {
		t.Fatal(err)
	}
	for i := range shipped.Policies {
		objects = append(objects, &shipped.Policies[i])
	}
	for i := range shipped.Bindings {
		objects = append(objects, &shipped.Bindings[i])
	}
	for _, object := range objects {
		object.SetGeneration(1)
	}
	return objects
}

var recordKey = read.Key{Namespace: "statecraft-system", Name: "statecraft-capture-policies"}

// TestAWatchOfPoliciesTellsOfAGap, records nothing as long as there is one, and tells when it is closed.
func TestAWatchOfPoliciesTellsOfAGap(t *testing.T) {
	objects := installedPolicies(t)
	w, c := watching(t, objects[1:]...)
	looks := func(unguarded float64, recorded bool) {
		t.Helper()
		if err := w.look(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := metricOf(t, w.unguarded); got != unguarded || (w.gap != "") != (unguarded == 1) {
			t.Errorf("the gauge is %v, the gap %q", got, w.gap)
		}
		if err := c.Get(t.Context(), recordKey, &corev1.ConfigMap{}); (err == nil) != recorded {
			t.Errorf("the record: %v", err)
		}
	}
	looks(1, false)
	if err := c.Create(t.Context(), objects[0]); err != nil {
		t.Fatal(err)
	}
	looks(0, true)
	looks(0, true)
}

// TestARecordOfPoliciesIsReplaced: it is another object, so the API server dates it anew.
func TestARecordOfPoliciesIsReplaced(t *testing.T) {
	w, c := watching(t)
	stored := func() *guard.Record {
		t.Helper()
		var cm corev1.ConfigMap
		if err := c.Get(t.Context(), recordKey, &cm); err != nil {
			t.Fatal(err)
		}
		cm.UID = "seen" // a fake gives none
		return guard.RecordOf(&cm)
	}
	first := guard.Record{Seen: map[string]guard.Sighting{"ValidatingAdmissionPolicy a": {UID: "1", Generation: 1}}}
	if err := w.record(t.Context(), nil, first); err != nil {
		t.Fatal(err)
	}
	second := guard.Record{Seen: map[string]guard.Sighting{"ValidatingAdmissionPolicy a": {UID: "1", Generation: 2}}}
	if err := w.record(t.Context(), stored(), second); err != nil {
		t.Fatal(err)
	}
	if is := stored().Seen["ValidatingAdmissionPolicy a"].Generation; is != 2 {
		t.Errorf("generation %d is recorded", is)
	}
}

func TestAnAreaWithoutPoliciesHasNoneToLookAt(t *testing.T) {
	if p, err := (Env{Namespace: "statecraft-system"}).Policies("valkey"); err == nil {
		t.Errorf("%d policies of area valkey", len(p.Shipped.Policies))
	}
}
