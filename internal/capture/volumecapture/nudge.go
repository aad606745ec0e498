package volumecapture

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
)

// NudgeAnnotation is when a content that hangs was last touched.
const NudgeAnnotation = "capture.statecraft.dev/kicked"

const (
	hangs        = 10 * time.Second
	nudgeAtLeast = 15 * time.Minute // the sidecar looks at everything that often anyway
)

// NeedsNudge says whether a content hangs, so that it helps to touch it, and when to look at it
// again; 0 is not at all. A content that is deleted while its snapshot is being made is put
// aside by the sidecar, and often only looked at again a quarter of an hour later. It is
// touched less and less often: the driver may be broken.
func NeedsNudge(content metav1.Object, now time.Time) (needed bool, again time.Duration) {
	deleted := content.GetDeletionTimestamp()
	if !IsContent(content) || deleted == nil || !slices.Contains(content.GetFinalizers(), BoundProtection) {
		return false, 0
	}
	since := deleted.Time
	if last, err := time.Parse(time.RFC3339, content.GetAnnotations()[NudgeAnnotation]); err == nil {
		since = last
	}
	patience := min(max(hangs, since.Sub(deleted.Time)/2), nudgeAtLeast)
	if left := since.Add(patience).Sub(now); left > 0 {
		return false, left
	}
	_, creating := content.GetAnnotations()[BeingCreated]
	return !creating, hangs
}

// IsContent says that a content was made by us: it is controlled by the keeper of the request
// that its name names. A name alone proves nothing.
func IsContent(content metav1.Object) bool {
	uid, named := strings.CutPrefix(content.GetName(), ContentPrefix)
	owner := metav1.GetControllerOf(content)
	return named && owner != nil && owner.Kind == "ObjectKeeper" && owner.APIVersion == capturev1.GroupVersion.String() &&
		owner.Name == request.KeeperName(types.UID(uid))
}
