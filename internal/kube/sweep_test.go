package kube

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// refusing is a server that lets nobody read objects of one kind.
type refusing struct {
	client.Reader
	kind string
}

func (r refusing) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if obj.GetObjectKind().GroupVersionKind().Kind == r.kind {
		return apierrors.NewForbidden(schema.GroupResource{}, key.Name, errors.New("no"))
	}
	return r.Reader.Get(ctx, key, obj, opts...)
}

// TestSweep: only that its target is gone, by the API server's word, removes a Lease.
func TestSweep(t *testing.T) {
	targets := map[string]read.Ref{
		"it is there":           refTo("target"),
		"it is gone":            refTo("gone"),
		"another has its name":  {Kind: "ConfigMap.", Namespace: "shop", Name: "us", UID: "former"},
		"gone, of another kind": {Kind: "Node.", Name: "gone", UID: "node"},
		"gone, and marked":      refTo("marked"),
		"there, and marked":     refTo("another"),
		"not served":            {Kind: "RestartPlace.valkey.statecraft.dev", Name: "restart-1", UID: "valkey-restart-1"},
		"may not be read":       {Kind: "Secret.", Namespace: "shop", Name: "key", UID: "secret"},
		"names no target":       {Kind: "ConfigMap.", Name: "nothing", UID: "lost"},
	}
	anyOf := []string{"another has its name", "gone, and marked", "gone, of another kind", "it is gone"}
	for name, tc := range map[string]struct {
		kinds []schema.GroupKind
		want  []string
	}{
		"no kind":                 {nil, nil},
		"any kind":                {[]schema.GroupKind{AnyKind}, anyOf},
		"any kind, and some":      {[]schema.GroupKind{{Kind: "Node"}, AnyKind}, anyOf},
		"one kind":                {[]schema.GroupKind{{Kind: "ConfigMap"}}, []string{"another has its name", "gone, and marked", "it is gone"}},
		"a kind of another group": {[]schema.GroupKind{{Group: "apps", Kind: "ConfigMap"}}, nil},
		"any kind of one group":   {[]schema.GroupKind{{Group: "*", Kind: "ConfigMap"}}, nil}, // there is no such thing
	} {
		r, c := reserving(t)
		r.Live = read.Live{Reader: refusing{r.Live, "Secret"}}
		for what, target := range targets {
			lease := newLease("system", target)
			lease.Annotations["test/what"] = what
			switch what {
			case "gone, and marked", "there, and marked":
				lease.Annotations[read.UnresolvedAnnotation] = otherMark
			case "names no target":
				delete(lease.Annotations, reservationTarget)
			}
			if err := c.Create(t.Context(), lease); err != nil {
				t.Fatal(err)
			}
		}
		n, err := r.Sweep(t.Context(), tc.kinds...)
		if err != nil || n != len(tc.want) {
			t.Errorf("%s: swept %d: %v", name, n, err)
		}
		if diff := cmp.Diff(tc.want, sweptOf(t, c, targets)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// sweptOf are the targets whose Leases are gone.
func sweptOf(t *testing.T, c client.Client, targets map[string]read.Ref) (gone []string) {
	t.Helper()
	var left coordinationv1.LeaseList
	if err := c.List(t.Context(), &left); err != nil {
		t.Fatal(err)
	}
	for what := range targets {
		if !slices.ContainsFunc(left.Items, func(l coordinationv1.Lease) bool { return l.Annotations["test/what"] == what }) {
			gone = append(gone, what)
		}
	}
	slices.Sort(gone)
	return gone
}
