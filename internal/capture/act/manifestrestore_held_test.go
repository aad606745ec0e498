package act

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// left is what capture v1 of claim data has left; change makes it another's.
func left(change func(*capturev1.Origin)) map[string]string {
	origin := capturev1.Origin{Namespace: "old", NamespaceUID: "n1", RequestUID: "v1", Claim: "data", ClaimUID: "c1"}
	if change != nil {
		change(&origin)
	}
	text, err := json.Marshal(origin)
	if err != nil {
		panic(err) // strings only
	}
	return map[string]string{capturev1.OriginAnnotation: string(text)}
}

func snapshotLeft(change func(*capturev1.Origin)) *snapshotv1.VolumeSnapshotContent {
	return &snapshotv1.VolumeSnapshotContent{
		ObjectMeta: metav1.ObjectMeta{Name: volumecapture.ContentName("v1"), UID: "s1", Annotations: left(change)},
		Status:     &snapshotv1.VolumeSnapshotContentStatus{ReadyToUse: ptr.To(true), RestoreSize: ptr.To(int64(8 << 20))},
	}
}

func volumeLeft(change func(*capturev1.Origin)) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{
		Name: "pv", UID: "p1", Annotations: left(change), Labels: map[string]string{capturev1.DetachedByLabel: "v1"},
	}}
}

// TestWhatACaptureHasLeft: a volume is found with its capture or, if that is gone, in what it has left, by the UIDs that
// the checkpoint knows. What only bears the name is somebody else's.
func TestWhatACaptureHasLeft(t *testing.T) {
	nightly := &capturev1.VolumeCaptureRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "old", Name: "nightly", UID: "v1"}}
	nightly.Status.Conditions = []metav1.Condition{{Type: fsm.Ready, Status: metav1.ConditionTrue}}
	again := nightly.DeepCopy()
	again.UID = "v2"
	going := snapshotLeft(nil)
	going.Finalizers, going.DeletionTimestamp = []string{volumecapture.BoundProtection}, &metav1.Time{Time: nightly.CreationTimestamp.AddDate(1, 0, 0)}
	unready := snapshotLeft(nil)
	unready.Status.ReadyToUse = ptr.To(false)
	for what, c := range map[string]struct {
		there   []client.Object
		orphans bool
		want    string // what is restored from and which right that takes, or why not
	}{
		"the capture is there":                     {there: []client.Object{nightly, snapshotLeft(nil)}, want: "request nightly v1, by volumecapturerequests nightly"},
		"it is gone":                               {there: []client.Object{snapshotLeft(nil)}, want: "content capture-v1 s1 8Mi, by volumesnapshotcontents capture-v1"},
		"it is gone with its namespace":            {there: []client.Object{nightly, snapshotLeft(nil)}, orphans: true, want: "content capture-v1 s1 8Mi, by volumesnapshotcontents capture-v1"},
		"another capture has its name":             {there: []client.Object{again, snapshotLeft(nil)}, want: "content capture-v1 s1 8Mi, by volumesnapshotcontents capture-v1"},
		"it had detached the volume":               {there: []client.Object{volumeLeft(nil)}, orphans: true, want: "volume pv p1, by persistentvolumes pv"},
		"it has left nothing":                      {want: "NotFound"},
		"the snapshot is of another namespace":     {there: []client.Object{snapshotLeft(func(o *capturev1.Origin) { o.NamespaceUID = "n2" })}, want: "NotFound"},
		"the snapshot is of another claim":         {there: []client.Object{snapshotLeft(func(o *capturev1.Origin) { o.Claim = "log" })}, want: "NotFound"},
		"the snapshot is of another capture":       {there: []client.Object{snapshotLeft(func(o *capturev1.Origin) { o.RequestUID = "v2" })}, want: "NotFound"},
		"the detached volume is of another claim":  {there: []client.Object{volumeLeft(func(o *capturev1.Origin) { o.Claim = "log" })}, want: "NotFound"},
		"the snapshot is on its way out":           {there: []client.Object{going}, want: "SourceNotReady"},
		"the snapshot is not ready":                {there: []client.Object{unready}, want: "SourceNotReady"},
		"the snapshot does not say where it is of": {there: []client.Object{&snapshotv1.VolumeSnapshotContent{ObjectMeta: metav1.ObjectMeta{Name: "capture-v1"}}}, want: "NotFound"},
	} {
		for _, allowed := range []bool{true, false} {
			var asked read.Right
			j := &restoreJob{
				ManifestRestore: &ManifestRestore{
					Live: read.Live{Reader: serving(t, c.there...)},
					May: func(_ context.Context, _ *meta.Requester, right read.Right) (read.Access, error) {
						asked = right
						return read.Access{Allowed: allowed, Why: "ann may not"}, nil
					},
				},
				request: &capturev1.ManifestRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "back"}},
				spec:    &capturev1.ManifestCheckpointSpec{Origin: capturev1.Origin{Namespace: "old", NamespaceUID: "n1", RequestUID: "m1"}},
				orphans: c.orphans,
			}
			item := manifestrestore.Item{Outline: manifestrestore.Outline{Key: manifestrestore.Key{Kind: "PersistentVolumeClaim", Name: "data"}}, Capture: "nightly", CaptureUID: "v1"}
			held, err := j.held(t.Context(), item)
			got, want := found(held, err), c.want
			if asked.Resource != "" {
				got += ", by " + asked.Resource + " " + asked.Name
			}
			if !allowed && asked.Resource != "" {
				got, want = found(held, err), "Forbidden"
			}
			if got != want || asked.Resource != "" && asked.Verb != "restore" {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
	}
}

func found(held manifestrestore.Held, err error) string {
	if why := (*refused)(nil); errors.As(err, &why) {
		return string(why.reason)
	}
	size := ""
	if held.Takes != nil {
		size = " " + held.Takes.String()
	}
	switch in := held.In; {
	case err != nil:
		return err.Error()
	case in.VolumeCaptureRequest != nil:
		return fmt.Sprintf("request %s %s%s", in.VolumeCaptureRequest.Name, in.VolumeCaptureRequest.UID, size)
	case in.VolumeSnapshotContent != nil:
		return fmt.Sprintf("content %s %s%s", in.VolumeSnapshotContent.Name, in.VolumeSnapshotContent.UID, size)
	case in.PersistentVolume != nil:
		return fmt.Sprintf("volume %s %s%s", in.PersistentVolume.Name, in.PersistentVolume.UID, size)
	}
	return "nothing"
}
