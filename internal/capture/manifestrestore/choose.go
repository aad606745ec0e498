package manifestrestore

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Seen is what was found under the name of an item, by a live read. The zero value is:
// nothing.
type Seen struct {
	UID        types.UID
	Mark       Mark // zero unless this request wrote it
	Controlled bool
	Leaving    bool // it is being deleted
	Hollow     bool // it is a claim that another restore made, and whose volume has not come
}

// See is what there is to know of an object that is there.
func See(obj *unstructured.Unstructured, by types.UID) Seen {
	return Seen{
		UID: obj.GetUID(), Mark: markOf(obj.GetAnnotations(), by),
		Controlled: metav1.GetControllerOf(obj) != nil, Leaving: obj.GetDeletionTimestamp() != nil, Hollow: hollow(obj),
	}
}

func hollow(obj *unstructured.Unstructured) bool {
	phase, _, _ := unstructured.NestedString(obj.Object, "status", "phase")
	return obj.GetAnnotations()[capturev1.RestoreAnnotation] != "" && phase != string(corev1.ClaimBound)
}

// Move is what to do about an item.
type Move string

// The moves. Leave has a result already.
const (
	Create  Move = "Create"
	Replace Move = "Replace"
	Leave   Move = "Leave"
)

// Choose says what to do about an item, given what is there.
func Choose(i Item, policy capturev1.ConflictPolicy, seen Seen) (Move, capturev1.ObjectResult) {
	switch {
	case i.Group == capturev1.GroupVersion.Group:
		return Leave, result(capturev1.ResultSkipped, ReasonOwnKind, "Requests are not restored: they would capture or restore again.")
	case seen.UID == "":
		return Create, capturev1.ObjectResult{}
	case seen.Mark.By != "":
		return Leave, capturev1.ObjectResult{Result: seen.Mark.As, UID: seen.UID, Changed: seen.Mark.Changed}
	}
	r, leave := taken(i, policy, seen)
	r.UID = seen.UID
	if leave {
		return Leave, r
	}
	return Replace, r
}

// taken is what becomes of an item whose name is somebody else's.
func taken(i Item, policy capturev1.ConflictPolicy, seen Seen) (r capturev1.ObjectResult, leave bool) {
	switch {
	case i.Capture != "" && seen.Leaving: // what is to use it would find nothing in a moment
		return result(capturev1.ResultFailed, capturev1.ReasonNameTaken, "The existing claim is being deleted; try again when it is gone."), true
	case i.Capture != "" && seen.Hollow: // what is to use it would wait for a volume that may never come
		return result(capturev1.ResultFailed, capturev1.ReasonNameTaken,
			"The existing claim is another restore's, and has no volume; if that restore has ended, delete what waits for the claim, then the claim."), true
	case policy == capturev1.ConflictSkip:
		return result(capturev1.ResultSkipped, capturev1.ReasonNameTaken, ""), true
	case policy != capturev1.ConflictReplace:
		return result(capturev1.ResultFailed, capturev1.ReasonConflict, "An object of that name exists; delete it, or choose another conflictPolicy."), true
	case i.Capture != "":
		return result(capturev1.ResultFailed, capturev1.ReasonNameTaken, "A volume is never replaced; delete the existing claim."), true
	case seen.Leaving:
		return result(capturev1.ResultFailed, capturev1.ReasonNameTaken, "The existing object is being deleted, and what is written to it would be deleted, too; try again when it is gone."), true
	case seen.Controlled:
		return result(capturev1.ResultFailed, ReasonControlled, "A controller owns the existing object, and would change it back; replace its owner."), true
	case i.Group == "statecraft.dev" || strings.HasSuffix(i.Group, ".statecraft.dev"):
		return result(capturev1.ResultFailed, ReasonOwnKind, "Kinds of Statecraft are never replaced; delete the existing object."), true
	}
	return capturev1.ObjectResult{}, false
}

func result(what capturev1.RestoreResult, why fsm.Reason, message string) capturev1.ObjectResult {
	return capturev1.ObjectResult{Result: what, Reason: why, Message: message}
}

// Unwritten is the result of an item that a restore means to write and has not: a plan is no result. Only a dry run tells
// what would become of it.
func Unwritten(r capturev1.ObjectResult) capturev1.ObjectResult {
	if r.Result != capturev1.ResultCreated && r.Result != capturev1.ResultReplaced {
		return r
	}
	return result(capturev1.ResultPending, ReasonNotReached, "")
}

// Judge says what became of an item, given what is there now and what was said of it before:
// for whoever only looks. It does not know only when Replace may have left it as it was; then
// the API server must be asked whether anything would change.
func Judge(i Item, policy capturev1.ConflictPolicy, seen Seen, before *capturev1.ObjectResult) (r capturev1.ObjectResult, unsure bool) {
	wrote := before != nil && (before.Result == capturev1.ResultCreated || before.Result == capturev1.ResultReplaced)
	move, r := Choose(i, policy, seen)
	switch {
	case seen.Mark.By != "":
		return r, false
	case wrote && before.UID == seen.UID && seen.UID != "": // somebody took our mark off
		return *before, false
	case wrote:
		return result(capturev1.ResultFailed, ReasonVanished, "The object was restored, and somebody has deleted it since."), false
	case before != nil && before.Result != capturev1.ResultPending:
		return *before, false
	case move == Create:
		return result(capturev1.ResultPending, ReasonNotReached, ""), false
	}
	return r, move == Replace
}
