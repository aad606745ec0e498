package act

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// restoreJob goes through a checkpoint from its first object to its last. It can be stopped
// after any step, and another begun in its place: what it wrote bears the request's mark.
type restoreJob struct {
	*ManifestRestore
	request *capturev1.ManifestRestoreRequest
	stage   manifestrestore.Stage
	keeper  types.UID

	as      client.Client
	spec    *capturev1.ManifestCheckpointSpec // nil before it was read
	key     []byte                            // that it is encrypted with
	read    int                               // chunks that were read
	orphans bool                              // the captures of volumes are gone with the namespace that they were in

	selection *manifestrestore.Selection
	found     int // objects, selected or not
	outlines  []manifestrestore.Outline
	frame     frame // the one that was read last

	items   []manifestrestore.Item
	next    int
	claimed bool // the claims of volumes that are restored are there
	tries   int
	results []capturev1.ObjectResult
	blind   int32
	uids    map[manifestrestore.Key]types.UID // of what is there
	would   map[manifestrestore.Key]types.UID // of what a dry run did not make
	failed  map[manifestrestore.Key]bool
}

// step reads the checkpoint, then a frame of it, then restores an object, one at a time.
func (j *restoreJob) step(ctx context.Context) (report *manifestrestore.Report, done bool, err error) {
	switch {
	case j.spec == nil:
		err = j.open(ctx)
	case j.read < len(j.spec.Chunks):
		err = j.load(ctx)
	case j.items == nil && len(j.outlines) > 0:
		j.items = manifestrestore.NewPlan(j.outlines, j.task())
		j.outlines = nil
	case j.next < len(j.items):
		err = j.restore(ctx)
	default:
		return j.tally(), true, nil
	}
	if refusal := (*refused)(nil); errors.As(err, &refusal) {
		return j.broken(refusal), true, nil
	}
	if unmade := (*awaits)(nil); errors.As(err, &unmade) {
		return &manifestrestore.Report{Awaits: unmade.request}, true, nil
	}
	return nil, false, err
}

func (j *restoreJob) tally() *manifestrestore.Report {
	report := manifestrestore.Tally(j.results)
	report.Blind = j.blind
	return report
}

// broken is the report of a job that cannot go on. What it has written stays, so it is told.
func (j *restoreJob) broken(by *refused) *manifestrestore.Report {
	report := &manifestrestore.Report{}
	if j.stage == manifestrestore.Apply && len(j.results) > 0 {
		j.stop()
		report = j.tally()
	}
	report.Refusal, report.Message = by.reason, by.message
	return report
}

// refused says that the checkpoint cannot be restored, now or later.
type refused struct {
	reason  fsm.Reason
	message string
}

func (e *refused) Error() string { return string(e.reason) + ": " + e.message }

// open reads the checkpoint and the key that it is encrypted with.
func (j *restoreJob) open(ctx context.Context) (err error) {
	if err := j.confirm(ctx); err != nil {
		return err
	}
	if err := j.permitted(ctx); err != nil {
		return err
	}
	if j.as, err = j.As(j.request.Namespace); err != nil {
		return fmt.Errorf("act for namespace %s: %w", j.request.Namespace, err)
	}
	ref := j.request.Status.CheckpointRef
	if ref == nil {
		return &fsm.Error{Class: fsm.Changed, Err: errors.New("which checkpoint it is was not saved")}
	}
	var c capturev1.ManifestCheckpoint
	switch err := j.Live.Get(ctx, read.Key{Name: ref.Name}, &c); {
	case read.SaysGone(err, ref.Name), err == nil && c.UID != ref.UID:
		return &refused{capturev1.ReasonNotFound, "ManifestCheckpoint " + ref.Name + " is gone."}
	case err != nil:
		return fmt.Errorf("read checkpoint %s: %w", ref.Name, err)
	}
	if err := j.secrets(ctx, &c.Spec); err != nil {
		return err
	}
	if j.key, err = j.unlock(ctx, &c.Spec); err != nil {
		return err
	}
	if err := j.home(ctx, &c.Spec); err != nil {
		return err
	}
	j.uids, j.would = map[manifestrestore.Key]types.UID{}, map[manifestrestore.Key]types.UID{}
	j.failed = map[manifestrestore.Key]bool{}
	j.spec = &c.Spec
	return nil
}

// confirm reads the request itself, live, before anything is written: a cache that is behind
// may show a phase that was left long ago, and objects that users deleted since would be
// restored once more.
func (j *restoreJob) confirm(ctx context.Context) error {
	if j.stage != manifestrestore.Apply {
		return nil
	}
	var is capturev1.ManifestRestoreRequest
	if err := j.Live.Get(ctx, client.ObjectKeyFromObject(j.request), &is); err != nil {
		return fmt.Errorf("read request: %w", err)
	}
	if is.UID != j.request.UID || is.Status.Phase != manifestrestore.Applying || is.DeletionTimestamp != nil {
		return &fsm.Error{Class: fsm.Changed, Err: errors.New("the request is not in phase Applying any more")}
	}
	return nil
}

// permitted asks for the rights of the requester once more, whenever a job begins: the request may have waited since
// it was accepted. What was written is looked at whatever he may do by now.
func (j *restoreJob) permitted(ctx context.Context) error {
	if j.stage == manifestrestore.Look {
		return nil
	}
	return j.needs(ctx, manifestrestore.Needs(j.request))
}

// needs refuses the restore if the requester lacks a right.
func (j *restoreJob) needs(ctx context.Context, needs []request.Need) error {
	rights, err := j.Rights(ctx, j.request.Spec.Requester, needs)
	if why, message, denied := rights.Refusal(); denied {
		return &refused{why, message}
	}
	return err
}

// secrets asks whether the requester may see Secrets where those of the checkpoint are to be. Who may not see
// them may not bring them either: they could be taken from a namespace where somebody keeps them apart. It is
// asked before anything is planned, and before anything is written.
func (j *restoreJob) secrets(ctx context.Context, spec *capturev1.ManifestCheckpointSpec) error {
	if spec.Encryption == nil || j.stage == manifestrestore.Look {
		return nil
	}
	return j.needs(ctx, []request.Need{{What: "The checkpoint holds Secrets", Right: read.Right{
		Verb: "get", Resource: "secrets", Namespace: j.request.Namespace,
	}}})
}

func (j *restoreJob) unlock(ctx context.Context, spec *capturev1.ManifestCheckpointSpec) ([]byte, error) {
	if spec.Encryption == nil {
		return nil, nil
	}
	var keys corev1.Secret
	err := j.Live.Get(ctx, read.Key{Namespace: j.System, Name: checkpoint.KeysSecret}, &keys)
	switch {
	case read.SaysGone(err, checkpoint.KeysSecret):
		return nil, &refused{capturev1.ReasonKeyMissing, "Secret " + checkpoint.KeysSecret + " of the operator's namespace is gone; create it again with the key that the checkpoint was encrypted with."}
	case err != nil:
		return nil, fmt.Errorf("read keys: %w", err)
	}
	ring, err := checkpoint.ParseRing(keys.Data)
	if err != nil {
		return nil, &refused{capturev1.ReasonKeyMissing, "Secret " + checkpoint.KeysSecret + " of the operator's namespace is not valid; it needs an entry of 32 bytes, and the entry active, which names it."}
	}
	key, err := ring.Open(spec)
	return key, spoiled(err)
}

// home looks whether the namespace that the objects were captured in is still the same. Its
// volumes are captured by requests in it; one of the same name in another namespace of the
// same name is somebody else's.
func (j *restoreJob) home(ctx context.Context, spec *capturev1.ManifestCheckpointSpec) error {
	if len(spec.Volumes) == 0 {
		return nil
	}
	ns := &metav1.PartialObjectMetadata{}
	ns.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	switch err := j.Live.Get(ctx, read.Key{Name: spec.Origin.Namespace}, ns); {
	case read.SaysGone(err, spec.Origin.Namespace):
		j.orphans = true
	case err != nil:
		return fmt.Errorf("read namespace %s: %w", spec.Origin.Namespace, err)
	default:
		j.orphans = ns.UID != spec.Origin.NamespaceUID
	}
	return nil
}

// spoiled says what a checkpoint that cannot be decoded means for the request.
func spoiled(err error) error {
	for cause, reason := range map[error]fsm.Reason{
		checkpoint.ErrTampered: capturev1.ReasonTampered, checkpoint.ErrKeyMissing: capturev1.ReasonKeyMissing,
		checkpoint.ErrIncomplete: capturev1.ReasonIncomplete,
	} {
		if errors.Is(err, cause) {
			return &refused{reason, "The checkpoint cannot be read: " + err.Error() + "."}
		}
	}
	return err
}

// mostTries is how often an object is looked at again because it changed in between.
const mostTries = 8

// restore does what is to be done about the next object.
func (j *restoreJob) restore(ctx context.Context) error {
	if j.stage == manifestrestore.Apply && !j.claimed && manifestrestore.MayUseVolumes(j.items[j.next].Key) {
		return j.claim(ctx)
	}
	item, err := j.fill(ctx, j.items[j.next])
	if err != nil {
		return err
	}
	result, err := j.one(ctx, item)
	if err = kube.Classify(err); err != nil {
		class := fsm.ClassOf(err)
		if j.tries++; class == fsm.Changed && j.tries < mostTries {
			return nil // look at it again
		}
		return &fsm.Error{
			Class: class, Err: fmt.Errorf("restore %s %s: %w", item.Kind, item.Name, err),
			Say: fmt.Sprintf("%s %s cannot be restored at the moment, because the API server does not answer or reports an error; the manager tries again.", item.Kind, item.Name),
		}
	}
	j.tries = 0
	j.took(item, result)
	j.next++
	if j.stage == manifestrestore.Apply && result.Reason == capturev1.ReasonConflict {
		j.stop()
	}
	return nil
}

// took notes what became of an object.
func (j *restoreJob) took(item manifestrestore.Item, r capturev1.ObjectResult) {
	r.Name = item.Name
	j.results = append(j.results, r)
	switch {
	case r.Result == capturev1.ResultFailed:
		j.failed[item.Key] = true
	case r.UID != "":
		j.uids[item.Key] = r.UID
	}
}

// owner is the UID of an owner. In a dry run that may be one that was never made: who is
// owned must name some.
func (j *restoreJob) owner(key manifestrestore.Key) types.UID {
	return cmp.Or(j.uids[key], j.would[key])
}

// stop ends the restore before the objects that are left: with policy Fail a name that was
// taken meanwhile is as good a reason to write nothing more as one that was taken before.
func (j *restoreJob) stop() {
	for ; j.next < len(j.items); j.next++ {
		r := capturev1.ObjectResult{Result: capturev1.ResultPending, Reason: manifestrestore.ReasonNotReached}
		r.Group, r.Resource = j.resource(j.items[j.next])
		j.took(j.items[j.next], r)
	}
}

// looked reads what has the name of an item; nil if nothing does.
func (j *restoreJob) looked(ctx context.Context, item manifestrestore.Item) (*unstructured.Unstructured, error) {
	there := &unstructured.Unstructured{}
	there.SetGroupVersionKind(item.GroupVersionKind())
	err := j.as.Get(ctx, read.Key{Namespace: j.request.Namespace, Name: item.Name}, there)
	switch {
	case read.SaysGone(err, item.Name):
		return nil, nil
	case apierrors.IsNotFound(err): // the kind went since it was mapped
		return nil, &fsm.Error{Class: fsm.Transient, Err: err}
	}
	return there, err
}
