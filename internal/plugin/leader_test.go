package plugin

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/statecraft-dev/statecraft/internal/areas"
)

var noon = time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)

// aLease was renewed so long ago; one without a holder was released.
func aLease(at, holder string, renewed time.Duration) *coordinationv1.Lease {
	namespace, name, _ := strings.Cut(at, "/")
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	l.Spec.RenewTime = ptr.To(metav1.NewMicroTime(noon.Add(-renewed)))
	l.Spec.LeaseDurationSeconds = ptr.To[int32](15)
	if holder != "" {
		l.Spec.HolderIdentity = &holder
	}
	return l
}

// Where Statecraft was moved, the Lease of before stays: the one that leads counts, or else the one renewed last.
func TestWhichLease(t *testing.T) {
	const usual, moved = "statecraft-system/statecraft-valkey", "platform/statecraft-valkey"
	released, dead, leads := aLease(usual, "", 3*time.Hour), aLease(moved, "x", time.Hour), aLease(moved, "x", time.Second)
	web := &unstructured.Unstructured{}
	web.SetNamespace("shop")
	web.SetName("web")
	shard := func(namespace string, of int, renewed time.Duration) (all []runtime.Object) {
		for _, name := range []string{"statecraft-valkey-1-of-2", "statecraft-valkey-2-of-2"}[:of] {
			all = append(all, aLease(namespace+"/"+name, "x", renewed))
		}
		return all
	}
	for name, tc := range map[string]struct {
		leases []runtime.Object
		system string
		denied string // what may not be listed: a namespace, or * for all
		want   string
		leads  bool
		hidden bool
	}{
		"where it usually is":               {leases: []runtime.Object{aLease(usual, "x", 0)}, want: usual, leads: true},
		"it leads elsewhere":                {leases: []runtime.Object{released, leads}, want: moved, leads: true},
		"it led elsewhere later":            {leases: []runtime.Object{released, dead}, want: moved},
		"it led elsewhere before":           {leases: []runtime.Object{aLease(usual, "", time.Minute), dead}, want: usual},
		"the first found elsewhere is dead": {leases: []runtime.Object{aLease("a/statecraft-valkey", "", time.Hour), leads}, want: moved, leads: true},
		"just released, and leads since":    {leases: []runtime.Object{aLease(usual, "", 0), leads}, want: moved, leads: true},
		"shards elsewhere":                  {leases: append(shard("platform", 2, 0), released), want: "platform/statecraft-valkey-", leads: true},
		"shards instead of one":             {leases: append(shard("statecraft-system", 2, 0), released), want: "statecraft-system/statecraft-valkey-", leads: true},
		"only there":                        {leases: []runtime.Object{released, leads}, system: "statecraft-system", want: usual},
		"elsewhere nobody may look":         {leases: []runtime.Object{released, leads}, denied: "*", want: usual, hidden: true},
		"there nobody may list":             {leases: []runtime.Object{released}, system: "statecraft-system", denied: "statecraft-system", want: usual},
		"nowhere":                           {want: usual},
		"nobody may look":                   {denied: "*", want: usual, hidden: true},
	} {
		client := fake.NewClientset(tc.leases...)
		client.PrependReactor("list", "leases", func(a clienttesting.Action) (bool, runtime.Object, error) {
			denied := tc.denied == "*" || tc.denied != "" && a.GetNamespace() == tc.denied
			return denied, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "leases"}, "", nil)
		})
		r := &Reader{System: tc.system, typed: client, now: func() time.Time { return noon }}
		area, _ := areas.Find("valkey")
		l := r.elections(t.Context(), area).of(web, noon)
		if !strings.HasPrefix(l.Lease, tc.want) || l.Leads(noon) != tc.leads || l.Hidden != tc.hidden {
			t.Errorf("%s: %+v", name, l)
		}
	}
}
