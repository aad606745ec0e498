package act

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// restorer owns the fields of what is restored.
const restorer = client.FieldOwner("statecraft-manifestrestore")

// one does what is to be done about one object. An error is for the job; what the API server
// says about this object alone is its result.
func (j *restoreJob) one(ctx context.Context, item manifestrestore.Item) (r capturev1.ObjectResult, err error) {
	mapping, err := j.mapping(item)
	switch {
	case apimeta.IsNoMatchError(err):
		r = fails(manifestrestore.ReasonUnserved, "The API server does not serve "+item.GroupVersionKind().GroupVersion().String()+" "+item.Kind+"; install its CRD.")
	case err != nil:
		return r, fmt.Errorf("map kind: %w", err)
	case mapping.Scope.Name() != apimeta.RESTScopeNameNamespace:
		r = capturev1.ObjectResult{Result: capturev1.ResultSkipped, Reason: manifestrestore.ReasonClusterScoped}
	default:
		r, err = j.place(ctx, item)
	}
	if j.only() {
		r = manifestrestore.Unwritten(r)
	}
	r.Group, r.Resource = j.resource(item)
	return r, err
}

func fails(why fsm.Reason, message string) capturev1.ObjectResult {
	return capturev1.ObjectResult{Result: capturev1.ResultFailed, Reason: why, Message: message}
}

func (j *restoreJob) mapping(item manifestrestore.Item) (*apimeta.RESTMapping, error) {
	gvk := item.GroupVersionKind()
	return j.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
}

// resource is that of an item, guessed if its kind is not served.
func (j *restoreJob) resource(item manifestrestore.Item) (group, resource string) {
	if mapping, err := j.mapping(item); err == nil {
		return mapping.Resource.Group, mapping.Resource.Resource
	}
	guess, _ := apimeta.UnsafeGuessKindToResource(item.GroupVersionKind())
	return guess.Group, guess.Resource
}

// place looks at the name of an object, and fills it if that is to be done.
func (j *restoreJob) place(ctx context.Context, item manifestrestore.Item) (r capturev1.ObjectResult, err error) {
	there, err := j.looked(ctx, item)
	switch {
	case apierrors.IsForbidden(err):
		j.blind++
		return fails(capturev1.ReasonForbidden, j.words(item, err)), nil
	case err != nil:
		return r, err
	}
	var seen manifestrestore.Seen
	if there != nil {
		seen = manifestrestore.See(there, j.request.UID)
	}
	if j.stage == manifestrestore.Look {
		return j.judge(ctx, item, there, seen)
	}
	if item.Capture != "" && seen.Mark.By != "" {
		return j.marked(ctx, item, there)
	}
	refs, lacks := item.Rewire(j.owner, j.failed)
	if lacks != nil {
		return fails(manifestrestore.ReasonOwnerNotRestored, "The owner of the object, "+lacks.Kind+" "+lacks.Name+", was not restored."), nil
	}
	move, r := manifestrestore.Choose(item, j.request.Spec.ConflictPolicy, seen)
	wanted := item.Object.DeepCopy()
	wanted.SetOwnerReferences(refs)
	switch {
	case move == manifestrestore.Leave:
		return r, nil
	case item.Capture != "":
		return j.volume(ctx, item)
	case move == manifestrestore.Create:
		return j.create(ctx, item, wanted)
	}
	return j.replace(ctx, item, wanted, there)
}

// dry says that the API server is asked to try writes without storing them.
func (j *restoreJob) dry() bool { return j.request.Spec.DryRun }

// only says that nothing is asked of the API server yet: this is a plan for a real run.
func (j *restoreJob) only() bool { return j.stage == manifestrestore.Plan && !j.dry() }

// create makes an object, with the mark by which it is known after a crash.
func (j *restoreJob) create(ctx context.Context, item manifestrestore.Item, wanted *unstructured.Unstructured) (capturev1.ObjectResult, error) {
	r := capturev1.ObjectResult{Result: capturev1.ResultCreated}
	if j.only() || j.dry() && slices.ContainsFunc(item.Leans(), j.wouldExist) {
		return r, nil
	}
	mark(wanted, manifestrestore.Mark{By: j.request.UID, As: r.Result})
	options := []client.CreateOption{restorer}
	if j.dry() {
		options = append(options, client.DryRunAll)
	}
	if err := j.as.Create(ctx, wanted, options...); err != nil {
		return j.refusal(item, err)
	}
	if j.dry() {
		j.would[item.Key] = wanted.GetUID()
		return r, nil
	}
	r.UID = wanted.GetUID()
	return r, nil
}

// wouldExist says that an object would be there in a real run.
func (j *restoreJob) wouldExist(key manifestrestore.Key) bool { return j.would[key] != "" }

func mark(obj *unstructured.Unstructured, m manifestrestore.Mark) {
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[manifestrestore.MarkAnnotation] = m.String()
	obj.SetAnnotations(annotations)
}

// replace changes what is there into what was captured. It is tried first, to see what would
// change: an object that is already as it was captured is not written.
func (j *restoreJob) replace(ctx context.Context, item manifestrestore.Item, wanted, there *unstructured.Unstructured) (capturev1.ObjectResult, error) {
	r := capturev1.ObjectResult{Result: capturev1.ResultReplaced, UID: there.GetUID()}
	if j.only() {
		return r, nil
	}
	changed, err := j.difference(ctx, wanted, there)
	if err != nil {
		return j.refusal(item, err)
	}
	if len(changed) == 0 {
		return capturev1.ObjectResult{Result: capturev1.ResultUnchanged, UID: r.UID}, nil
	}
	if r.Changed = manifestrestore.Few(changed); j.dry() {
		return r, nil
	}
	mark(wanted, manifestrestore.Mark{By: j.request.UID, As: r.Result, Changed: r.Changed})
	// If it were wrong, what users have set since the capture would be lost: so it is done to
	// this very object only, and only because the request says Replace.
	if err := j.apply(ctx, wanted, there.GetUID()); err != nil {
		return j.refusal(item, err)
	}
	return r, nil
}

// difference asks what an apply would change.
func (j *restoreJob) difference(ctx context.Context, wanted, there *unstructured.Unstructured) ([]string, error) {
	answer := wanted.DeepCopy()
	if err := j.apply(ctx, answer, there.GetUID(), client.DryRunAll); err != nil {
		return nil, err
	}
	return manifestrestore.Changed(there, answer), nil
}

// apply applies to the object with this UID, over whoever else set the fields. That another
// has the name by now reads as a conflict, or as invalid.
func (j *restoreJob) apply(ctx context.Context, obj *unstructured.Unstructured, uid types.UID, options ...client.ApplyOption) error {
	obj.SetUID(uid)
	err := j.as.Apply(ctx, client.ApplyConfigurationFromUnstructured(obj), append(options, restorer, client.ForceOwnership)...)
	if !apierrors.IsInvalid(err) {
		return err
	}
	is := &metav1.PartialObjectMetadata{}
	is.SetGroupVersionKind(obj.GroupVersionKind())
	if again := j.as.Get(ctx, client.ObjectKeyFromObject(obj), is); again == nil && is.UID == uid {
		return err
	}
	return &fsm.Error{Class: fsm.Changed, Err: err}
}

// refusal is the result of an object that the API server refuses. Everything else is an
// error: it may pass, or the object changed and is looked at again.
func (j *restoreJob) refusal(item manifestrestore.Item, err error) (r capturev1.ObjectResult, _ error) {
	switch {
	case apierrors.IsNotFound(err): // not the object itself, which is written: something it names
		return fails(capturev1.ReasonNotFound, j.words(item, err)), nil
	case fsm.ClassOf(kube.Classify(err)) != fsm.Refused:
		return r, err
	case apierrors.IsForbidden(err):
		return fails(capturev1.ReasonForbidden, j.words(item, err)), nil
	}
	return fails(manifestrestore.ReasonInvalid, j.words(item, err)), nil
}

// judge says what became of an object, for a job that only looks.
func (j *restoreJob) judge(ctx context.Context, item manifestrestore.Item, there *unstructured.Unstructured, seen manifestrestore.Seen) (capturev1.ObjectResult, error) {
	if item.Capture != "" {
		v, err := j.volumeRequest(ctx, item)
		if v != nil || err != nil || seen.Mark.By != "" {
			return volumeResult(v, there), err
		}
	}
	r, unsure := manifestrestore.Judge(item, j.request.Spec.ConflictPolicy, seen, j.before(item))
	if !unsure {
		return r, nil
	}
	changed, err := j.difference(ctx, item.Object.DeepCopy(), there)
	switch {
	case err != nil:
		return j.refusal(item, err)
	case len(changed) == 0:
		return capturev1.ObjectResult{Result: capturev1.ResultUnchanged, UID: seen.UID}, nil
	}
	return capturev1.ObjectResult{Result: capturev1.ResultPending, Reason: manifestrestore.ReasonNotReached}, nil
}

// before is what was said of an object when it was written; nil if nothing was.
func (j *restoreJob) before(item manifestrestore.Item) *capturev1.ObjectResult {
	group, resource := j.resource(item)
	for i := range j.request.Status.Results {
		if r := &j.request.Status.Results[i]; r.Group == group && r.Resource == resource && r.Name == item.Name {
			return r
		}
	}
	return nil
}
