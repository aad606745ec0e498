package kube

import (
	"fmt"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

const (
	handover = 2 * time.Second // from one leader to the next, if the first gives back
	watchful = 5 * time.Second // during which nothing must change
)

// keeper is one that only counts down.
func keeper(name string) *capturev1.ObjectKeeper {
	return &capturev1.ObjectKeeper{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       capturev1.ObjectKeeperSpec{Mode: capturev1.TTL, TTL: &metav1.Duration{Duration: 24 * time.Hour}},
	}
}

// worksOn says that a manager works: it gives a new keeper a phase.
func worksOn(t *testing.T, c client.Client, name string) {
	t.Helper()
	k := create(t, c, keeper(name))
	harness.Eventually(t, soon, poll, func() error {
		if get(t, c, k); k.Status.Phase == "" {
			return fmt.Errorf("%s has no phase", name)
		}
		return nil
	})
}

func electionOf(area string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: "statecraft-" + area}}
}

// leader is who leads the area, or "".
func leader(t *testing.T, c client.Client) string {
	t.Helper()
	return leaderOf(t, c, "capture")
}

func leaderOf(t *testing.T, c client.Client, area string) string {
	t.Helper()
	lease := electionOf(area)
	if err := client.IgnoreNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(lease), lease)); err != nil {
		t.Fatal(err)
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// leads says nil if somebody leads other than one.
func leads(t *testing.T, c client.Client, not string) error {
	t.Helper()
	if who := leader(t, c); who == "" || who == not {
		return fmt.Errorf("leader is %q", who)
	}
	return nil
}

func TestOneManagerLeadsAndHandsOver(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b.Config()), bedtest.Namespace(t, b)
	first, second := product.NewManager(t, b, "capture"), product.NewManager(t, b, "capture", "--health-probe-bind-address="+freeAddress(t))
	before := leader(t, c)
	first.Start()
	harness.Eventually(t, soon, poll, func() error { return leads(t, c, before) })
	one := leader(t, c)
	worksOn(t, c, namespace+"-first")
	second.Start()
	harness.Consistently(t, watchful, poll, func() error {
		if now := leader(t, c); now != one {
			return fmt.Errorf("%q leads besides %q", now, one)
		}
		return nil
	})
	first.Stop()
	harness.Within(t, handover, poll, func() error { return leads(t, c, one) })
	worksOn(t, c, namespace+"-second")
}

func TestAManagerWithoutElection(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := newClient(t, b.Config()), bedtest.Namespace(t, b)
	if err := client.IgnoreNotFound(c.Delete(t.Context(), electionOf("capture"))); err != nil {
		t.Fatal(err)
	}
	product.NewManager(t, b, "capture", "--no-leader-election").Start()
	worksOn(t, c, namespace+"-alone")
	if who := leader(t, c); who != "" {
		t.Errorf("%s was elected all the same", who)
	}
}
