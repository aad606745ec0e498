package act

import (
	"errors"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
)

// TestARestartBeginsInItsPlace: whatever a cache showed, the API server is asked whose a place is. Who is late makes
// nothing, and is not told of a failure: what heals a cluster would wait for the end of that.
func TestARestartBeginsInItsPlace(t *testing.T) {
	named := func(name string) *valkeyv1.ValkeyCluster {
		return &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	}
	web, other := named("web"), named("other")
	web.UID, other.UID = "c1", "c2"
	kind := schema.GroupKind{Group: valkeyv1.GroupVersion.Group, Kind: "ValkeyCluster"}
	for name, tc := range map[string]struct {
		holder string
		there  []client.Object
		made   bool
	}{
		"a place that nobody ever had":   {"", []client.Object{web, other}, true},
		"its own":                        {reserve.RefOf(kind, web).String(), []client.Object{web, other}, true},
		"that of another":                {reserve.RefOf(kind, other).String(), []client.Object{web, other}, false},
		"that of a cluster that is gone": {reserve.RefOf(kind, other).String(), []client.Object{web}, true},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := errors.Join(coordinationv1.AddToScheme(scheme), valkeyv1.AddToScheme(scheme)); err != nil {
				t.Fatal(err)
			}
			key := read.Key{Namespace: "system", Name: read.LeaseName(cluster.PlaceRef(1).UID)}
			if tc.holder != "" {
				tc.there = append(tc.there, &coordinationv1.Lease{
					ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}, Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To(tc.holder)},
				})
			}
			mapper := apimeta.NewDefaultRESTMapper([]schema.GroupVersion{valkeyv1.GroupVersion})
			mapper.Add(valkeyv1.GroupVersion.WithKind(kind.Kind), apimeta.RESTScopeNamespace)
			server := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithObjects(tc.there...).WithReturnManagedFields().Build()
			env := kube.Env{Client: server, Live: server, Namespace: "system"}
			a := Cluster{Children: env.Writer("valkeycluster"), Places: env.Reservations(), Live: env.LiveReader()}
			for range 2 {
				if _, err := a.Act(t.Context(), web, cluster.BeginRestart{Place: 1, MakeUpgrade: cluster.MakeUpgrade{Name: "web-1", Image: "valkey"}}); err != nil {
					t.Fatal(err)
				}
			}
			var lease coordinationv1.Lease
			if err := server.Get(t.Context(), key, &lease); err != nil {
				t.Fatal(err)
			}
			err := server.Get(t.Context(), read.Key{Namespace: "shop", Name: "web-1"}, &valkeyv1.ValkeyUpgrade{})
			if ours := *lease.Spec.HolderIdentity == reserve.RefOf(kind, web).String(); ours != tc.made || (err == nil) != tc.made {
				t.Errorf("held by %s, upgrade: %v", *lease.Spec.HolderIdentity, err)
			}
		})
	}
}
