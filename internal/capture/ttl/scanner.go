package ttl

import (
	"context"
	"errors"
	"fmt"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// page is how many requests are read at once.
const page = 500

// Scanner lists and deletes; it can do nothing else.
type Scanner struct {
	Live read.Live
	// Delete removes the very request that was seen, in the version that was judged.
	Delete func(context.Context, client.Object, kube.Seen) error
	Now    func() time.Time
	// Mine says which requests are this process's; another one may work on the rest.
	Mine func(read.Key) bool
	// Namespaces are where to look; none is everywhere.
	Namespaces []string
	// Terms are those of requests that capture. Restores have none.
	Terms Terms
	// Gone is told the kind of every request that was deleted.
	Gone func(kind string)
}

// kind is one kind of request.
type kind struct {
	name string
	list func() client.ObjectList
}

var kinds = []kind{
	{"VolumeCaptureRequest", func() client.ObjectList { return &capturev1.VolumeCaptureRequestList{} }},
	{"ManifestCaptureRequest", func() client.ObjectList { return &capturev1.ManifestCaptureRequestList{} }},
}

// Scan looks through all captures once. What goes wrong with one kind does not keep the
// others, and is tried again at the next scan.
func (s Scanner) Scan(ctx context.Context) error {
	var errs []error
	for _, k := range kinds {
		errs = append(errs, s.scanKind(ctx, k))
	}
	return errors.Join(errs...)
}

func (s Scanner) scanKind(ctx context.Context, k kind) (err error) {
	namespaces := s.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	var errs []error
	for _, ns := range namespaces {
		for next := ""; ; {
			list := k.list()
			if err := s.Live.List(ctx, list, client.InNamespace(ns), client.Limit(page), client.Continue(next)); err != nil {
				errs = append(errs, fmt.Errorf("list %s: %w", k.name, err))
				break
			}
			errs = append(errs, s.sweep(ctx, k, list))
			if next = list.GetContinue(); next == "" || ctx.Err() != nil {
				break
			}
		}
	}
	return errors.Join(errs...)
}

// sweep deletes what is due of one page.
func (s Scanner) sweep(ctx context.Context, k kind, list client.ObjectList) error {
	items, err := apimeta.ExtractList(list)
	if err != nil {
		return fmt.Errorf("read list of %s: %w", k.name, err)
	}
	var errs []error
	for _, item := range items {
		obj, ok := item.(client.Object)
		if !ok || obj.GetDeletionTimestamp() != nil || !s.Mine(client.ObjectKeyFromObject(obj)) {
			continue
		}
		if at, ever := s.Terms.Due(endOf(obj)); !ever || s.Now().Before(at) {
			continue
		}
		if err := s.Delete(ctx, obj, kube.SeenOf(obj)); err != nil {
			errs = append(errs, err)
			continue
		}
		s.Gone(k.name)
	}
	return errors.Join(errs...)
}

// endOf is how and when a request ended.
func endOf(obj client.Object) End {
	switch r := obj.(type) {
	case *capturev1.VolumeCaptureRequest:
		return end(r.Status.Conditions, r.Status.Completion, r.Spec.Mode == capturev1.Detach)
	case *capturev1.ManifestCaptureRequest:
		return end(r.Status.Conditions, r.Status.Completion, false)
	}
	return End{}
}

func end(conditions []metav1.Condition, c capturev1.Completion, detach bool) End {
	e := End{At: c.CompletionTimestamp, Detach: detach}
	if ready := apimeta.FindStatusCondition(conditions, fsm.Ready); ready != nil {
		e.Ready = ready.Status
	}
	return e
}
