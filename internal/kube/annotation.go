package kube

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Carried is an object that a machine runs over although its kind, a Pod say, has no room for
// a progress of ours.
type Carried[T any, O client.Object] interface {
	Object[T]
	// Carrier is the object as the API server has it.
	Carrier() O
}

// AnnotationStore keeps how far an object is in one annotation of it, and writes that together
// with the status in one patch. It is for kinds whose status strategy lets annotations through:
// that of Pods does, that of custom resources does not.
//
// Whoever may write the object may write the annotation, so no decision may rest on it alone.
type AnnotationStore[T Carried[T, O], O copied[O]] struct {
	objects    *StatusStore[O]
	client     client.Client
	annotation string
	carry      func(O) T
}

// NewAnnotationStore makes a store over a client whose reads are cached, and one whose reads are
// live. carry makes the object that the machine sees.
func NewAnnotationStore[T Carried[T, O], O copied[O]](e Env, annotation string, carry func(O) T) *AnnotationStore[T, O] {
	return &AnnotationStore[T, O]{objects: NewStore[O](e.Client, e.Live), client: e.Client, annotation: annotation, carry: carry}
}

// Get implements Store. Events are about the kind that the object says it is of.
func (s *AnnotationStore[T, O]) Get(ctx context.Context, key read.Key) (obj T, found bool, err error) {
	carrier, found, err := s.objects.Get(ctx, key)
	if err != nil || !found {
		return obj, false, err
	}
	gvk, err := apiutil.GVKForObject(carrier, s.client.Scheme())
	if err != nil {
		return obj, false, fmt.Errorf("find the kind of %T: %w", carrier, err)
	}
	carrier.GetObjectKind().SetGroupVersionKind(gvk)
	obj = s.carry(carrier)
	*obj.GetProgress() = parseProgress(carrier.GetAnnotations()[s.annotation], carrier.GetUID())
	return obj, true, nil
}

// Save implements Store. Of the metadata nothing but the annotation is written, whatever next has.
func (s *AnnotationStore[T, O]) Save(ctx context.Context, was, next T) error {
	text, err := printProgress(next.GetProgress(), next.GetUID())
	if err != nil {
		return fmt.Errorf("save progress of %s: %w", keyOf(was), err)
	}
	from, to := was.Carrier(), next.Carrier().DeepCopy()
	annotations := map[string]string{}
	for key, value := range from.GetAnnotations() {
		annotations[key] = value
	}
	annotations[s.annotation] = text
	to.SetAnnotations(annotations)
	to.SetLabels(from.GetLabels())
	to.SetFinalizers(from.GetFinalizers())
	to.SetOwnerReferences(from.GetOwnerReferences())
	if equality.Semantic.DeepEqual(from, to) {
		return nil // all that differs did not fit
	}
	return s.objects.Save(ctx, from, to)
}

// Current implements Store.
func (s *AnnotationStore[T, O]) Current(ctx context.Context, obj T) (bool, error) {
	return s.objects.Current(ctx, obj.Carrier())
}

// progressOf implements progressKeeper.
func (s *AnnotationStore[T, O]) progressOf(obj client.Object) *meta.Progress {
	p := parseProgress(obj.GetAnnotations()[s.annotation], obj.GetUID())
	return &p
}

// carried implements carrying. It has no progress: it is asked of every object of the kind.
func (s *AnnotationStore[T, O]) carried(obj client.Object) (seen T, is bool) {
	carrier, is := obj.(O)
	if !is {
		return seen, false
	}
	return s.carry(carrier), true
}

// Wrote implements Store.
func (s *AnnotationStore[T, O]) Wrote(obj client.Object) bool { return s.objects.Wrote(obj) }

// Watched implements Store.
func (s *AnnotationStore[T, O]) Watched() client.Object { return s.objects.Watched() }

// carriedProgress is what the annotation says. The UID is that of the object that it was written
// for: a manifest that is applied again, or a copy of a pod, has the annotations of the original.
type carriedProgress struct {
	UID           types.UID `json:"uid"`
	meta.Progress `json:",inline"`
}

// parseProgress reads an annotation. One that cannot be read, or was not written for this
// object, is as good as none: the machine finds its place as after a lost status.
func parseProgress(text string, uid types.UID) meta.Progress {
	var is carriedProgress
	if err := json.Unmarshal([]byte(text), &is); err != nil || is.UID != uid || is.Phase == "" {
		return meta.Progress{}
	}
	return is.Progress
}

const (
	carriedMoves = 4        // the last moves that are kept
	carriedBytes = 16 << 10 // all annotations of an object together may have 256 KiB
)

// printProgress writes an annotation. What is too long loses words first, and never the place.
func printProgress(p *meta.Progress, uid types.UID) (string, error) {
	p = p.DeepCopy()
	p.History = p.History[max(0, len(p.History)-carriedMoves):]
	for _, shorten := range []func(){
		func() {},
		func() {
			for i := range p.History {
				p.History[i].Message = ""
			}
		},
		func() { p.History, p.Conditions, p.WaitingFor = nil, nil, "" },
	} {
		shorten()
		text, err := json.Marshal(carriedProgress{uid, *p})
		if err != nil || len(text) <= carriedBytes {
			return string(text), err
		}
	}
	return "", fmt.Errorf("the place alone has more than %d bytes", carriedBytes)
}
