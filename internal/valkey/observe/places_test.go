package observe

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/upgrade"
)

// TestPlaces: whose a place is, and whether the restart of that cluster failed.
func TestPlaces(t *testing.T) {
	web := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "c1"}}
	other := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "other", UID: "c2"}}
	held := func(by *valkeyv1.ValkeyCluster) client.Object {
		return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: read.LeaseName(cluster.PlaceRef(2).UID)},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To(reserve.RefOf(kindOf("ValkeyCluster"), by).String())}}
	}
	made := func(name string, phase fsm.Phase) client.Object {
		u := &valkeyv1.ValkeyUpgrade{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, OwnerReferences: spec.Owner(other)}}
		u.Status.Phase = phase
		return u
	}
	others := reserve.Fact{State: reserve.Others, Holder: "ValkeyCluster shop/other"}
	for name, tc := range map[string]struct {
		there []client.Object
		want  cluster.RestartPlace
	}{
		"of nobody":            {nil, cluster.RestartPlace{Number: 2, Fact: reserve.Fact{State: reserve.Free}}},
		"ours":                 {[]client.Object{held(web)}, cluster.RestartPlace{Number: 2, Fact: reserve.Fact{State: reserve.Ours}}},
		"of one that is gone":  {[]client.Object{held(other)}, cluster.RestartPlace{Number: 2, Fact: reserve.Fact{State: reserve.Free}}},
		"of another":           {[]client.Object{held(other), other}, cluster.RestartPlace{Number: 2, Fact: others}},
		"of one that restarts": {[]client.Object{held(other), other, made("a", upgrade.InProgress), made("b", upgrade.Failed)}, cluster.RestartPlace{Number: 2, Fact: others}},
		"of one that failed":   {[]client.Object{held(other), other, made("a", upgrade.Completed), made("b", upgrade.RolledBack)}, cluster.RestartPlace{Number: 2, Fact: others, Failed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := errors.Join(coordinationv1.AddToScheme(scheme), valkeyv1.AddToScheme(scheme)); err != nil {
				t.Fatal(err)
			}
			cached := fake.NewClientBuilder().WithScheme(scheme).WithObjects(tc.there...).WithIndex(&valkeyv1.ValkeyUpgrade{}, ByOwner, func(obj client.Object) []string {
				return []string{string(metav1.GetControllerOf(obj).UID)}
			}).Build()
			o := Cluster{Cached: cached, Restarts: 2, Reservations: read.Reservations{Namespace: "system"}}
			places, err := o.places(t.Context(), web)
			want := []cluster.RestartPlace{{Number: 1, Fact: reserve.Fact{State: reserve.Free}}, tc.want}
			if diff := cmp.Diff(want, places); diff != "" || err != nil {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}
