package valkey

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// oneCluster is a reader of a cluster with passwords, and of its Secrets.
type oneCluster struct {
	uid   types.UID // "" is gone
	open  bool      // it has no passwords
	reads func()    // called before the cluster is read
}

func (o *oneCluster) Get(_ context.Context, key read.Key, obj client.Object, _ ...client.GetOption) error {
	c := valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "web", UID: o.uid}}
	switch obj := obj.(type) {
	case *valkeyv1.ValkeyCluster:
		if o.reads != nil {
			o.reads()
		}
		if o.uid == "" {
			return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
		}
		if c.UID = o.uid; !o.open {
			c.Spec.Auth = &valkeyv1.Auth{SecretName: "app"}
		}
		*obj = c
	case *corev1.Secret:
		obj.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(&c, valkeyv1.GroupVersion.WithKind("ValkeyCluster"))}
		obj.Data = map[string][]byte{access.OperatorFile: []byte("o1\n"), access.ReplicationFile: []byte("r1\n"), "username": []byte("shop"), "password": []byte("a1")}
	}
	return nil
}

func (*oneCluster) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

func (d *clients) kept() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.secured)
}

// TestConnectionsAndSecretsGoWithTheirCluster: nothing is kept of a cluster that is gone, was replaced, or needs no
// passwords any more; who had a client of it cannot log on by it again.
func TestConnectionsAndSecretsGoWithTheirCluster(t *testing.T) {
	key := read.Key{Namespace: "shop", Name: "web"}
	for what, c := range map[string]struct {
		end func(*oneCluster, *clients, Parts)
	}{
		"gone": {func(o *oneCluster, _ *clients, p Parts) { o.uid = ""; p.after(key, &valkeyv1.ValkeyCluster{}, false) }},
		"open": {func(o *oneCluster, d *clients, _ Parts) { o.open = true; _, _ = d.Connect(t.Context(), key) }},
	} {
		o := &oneCluster{uid: "c1"}
		d := newClients(o, read.Live{Reader: o})
		p := Parts{Connector: d, Sampler: &Sampler{}, Work: &kube.Worker[struct{}]{}, Access: &kube.Worker[struct{}]{}}
		s, err := d.Connect(t.Context(), key)
		if err != nil || d.kept() != 1 {
			t.Fatalf("%v, %d are kept", err, d.kept())
		}
		one := s.(session).of
		c.end(o, d, p)
		if d.kept() != 0 {
			t.Fatalf("%s: %d are kept", what, d.kept())
		}
		harness.Eventually(t, within, poll, func() error {
			one.mu.Lock()
			defer one.mu.Unlock()
			if one.client != nil || one.keys.Secrets.Operator != nil {
				return errors.New("its Secrets are kept")
			}
			return nil
		})
		if _, err := one.logIn(t.Context(), d.live, &valkeyv1.ValkeyCluster{}); err == nil {
			t.Errorf("%s: who had its client logs on again", what)
		}
	}
}

func TestAClusterOfTheSameNameHasAClientOfItsOwn(t *testing.T) {
	key := read.Key{Namespace: "shop", Name: "web"}
	o := &oneCluster{uid: "c1"}
	d := newClients(o, read.Live{Reader: o})
	first, err := d.Connect(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	again, err := d.Connect(t.Context(), key)
	if err != nil || again.(session).Client != first.(session).Client {
		t.Errorf("one cluster has two clients: %v", err)
	}
	o.uid = "c2"
	second, err := d.Connect(t.Context(), key)
	if err != nil || second.(session).Client == first.(session).Client || d.kept() != 1 {
		t.Errorf("two clusters have one client: %v", err)
	}
}

// TestAClusterThatGoesWhileItIsReadLeavesNothing: it is forgotten between the first read and the note that it has a client.
func TestAClusterThatGoesWhileItIsReadLeavesNothing(t *testing.T) {
	key := read.Key{Namespace: "shop", Name: "web"}
	o := &oneCluster{uid: "c1"}
	d := newClients(o, read.Live{Reader: o})
	reads := 0
	o.reads = func() {
		if reads++; reads == 2 {
			o.uid = ""
		}
	}
	if _, err := d.Connect(t.Context(), key); err == nil || d.kept() != 0 {
		t.Errorf("%v, %d are kept", err, d.kept())
	}
}
