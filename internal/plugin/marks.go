package plugin

import (
	"cmp"
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

// mark is on the Lease of a target that an operation may have changed.
type mark struct {
	by        reserve.Ref
	requester string
	target    reserve.Ref // the zero value if the Lease does not tell
	at        time.Time
}

// marks are those that were seen.
type marks struct {
	found  []mark
	all    bool   // there are no others
	unseen string // why there may be others
}

// marks looks in the system namespace and, if nobody said which that is, in all others, too.
func (r *Reader) marks(ctx context.Context) marks {
	namespace := cmp.Or(r.System, config.Namespace)
	if r.System == "" {
		if leases, err := r.leases(ctx, metav1.NamespaceAll); err == nil {
			return marks{found: marksOn(leases), all: true}
		}
	}
	leases, err := r.leases(ctx, namespace)
	if err != nil {
		return marks{unseen: hidden(err, "leases", namespace, ", so what is marked is not shown")}
	}
	return marks{found: marksOn(leases), all: r.System != "" || len(leases) > 0}
}

func marksOn(leases []coordinationv1.Lease) (all []mark) {
	for i := range leases {
		u := read.UnresolvedOf(&leases[i])
		if u == nil {
			continue
		}
		target, err := read.TargetOf(&leases[i])
		if err != nil {
			target = reserve.Ref{}
		}
		all = append(all, mark{u.By, u.Requester, target, read.MarkedAt(&leases[i])})
	}
	return all
}

// leases are those of a namespace, or of all.
func (r *Reader) leases(ctx context.Context, namespace string) (all []coordinationv1.Lease, err error) {
	options := metav1.ListOptions{Limit: page}
	for {
		list, err := r.typed.CoordinationV1().Leases(namespace).List(ctx, options)
		if err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
		if options.Continue = list.Continue; options.Continue == "" {
			return all, nil
		}
	}
}
