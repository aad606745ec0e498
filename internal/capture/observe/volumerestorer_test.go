package observe

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

const disks = "disks.example.com"

// intended is a restore whose volume is being made: its request, its claim and its intent.
func intended(t *testing.T) []client.Object {
	t.Helper()
	r := &capturev1.VolumeRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "back", UID: "r1"}}
	r.Spec.VolumeClaimTemplate.Name = "data"
	r.Status.Phase = volumerestore.Restoring
	r.Status.Source = &capturev1.ResolvedSource{Driver: disks, SnapshotHandle: "snap-1"}
	intent, err := restorer.Intent{
		Request: restorer.Ref{Namespace: "shop", Name: "back", UID: "r1"}, Claim: restorer.Ref{Namespace: "shop", Name: "data", UID: "c1"},
		Plan: restorer.Plan{Driver: disks, Name: restorer.VolumeName("r1")},
	}.ConfigMap("system")
	if err != nil {
		t.Fatal(err)
	}
	keeper := request.NewKeeper(r, capturev1.GroupVersion.WithKind("VolumeRestoreRequest"), "n1", request.Terms{})
	return []client.Object{r, claimFor("shop", "back", "c1"), intent, keeper}
}

// claimFor says that it was made for request r1.
func claimFor(namespace, request string, uid types.UID) *corev1.PersistentVolumeClaim {
	group := capturev1.GroupName
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "data", UID: uid, Annotations: map[string]string{capturev1.RestoreAnnotation: "r1"}},
		Spec:       corev1.PersistentVolumeClaimSpec{DataSourceRef: &corev1.TypedObjectReference{APIGroup: &group, Kind: "VolumeRestoreRequest", Name: request}},
	}
}

func see(t *testing.T, driver string, of *restorer.Restore, objects ...client.Object) restorer.World {
	t.Helper()
	c := serving(t, objects...)
	w, err := Restorer{Live: read.Live{Reader: c}, Driver: driver, Namespace: "system"}.Observe(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestARestorerBelievesNoStatusAlone: whoever writes one while the policies are missing asks for any volume of the driver.
func TestARestorerBelievesNoStatusAlone(t *testing.T) {
	for what, c := range map[string]struct {
		change func(objects []client.Object) []client.Object
		want   restorer.Request
	}{
		"its keeper is there": {func(o []client.Object) []client.Object { return o }, restorer.Wanted},
		"there is no keeper":  {func(o []client.Object) []client.Object { return o[:3] }, restorer.Elsewhere},
		"a keeper of another request": {func(o []client.Object) []client.Object {
			o[3].(*capturev1.ObjectKeeper).Spec.FollowRef.UID = "r2"
			return o
		}, restorer.Elsewhere},
		"a keeper that follows none": {func(o []client.Object) []client.Object { o[3].(*capturev1.ObjectKeeper).Spec.FollowRef = nil; return o }, restorer.Elsewhere},
	} {
		for _, rehearsal := range []*capturev1.Rehearsal{nil, {}} {
			objects := c.change(intended(t))
			objects[0].(*capturev1.VolumeRestoreRequest).Spec.Rehearsal = rehearsal
			if w := see(t, disks, restorer.New("shop", "back", "r1"), objects...); w.Request != c.want {
				t.Errorf("%s: %+v", what, w.Request)
			}
		}
	}
}

func TestAnIntentIsOfItsRequestAndItsDriver(t *testing.T) {
	// The claim of another namespace names the request by its UID: without a request there its intent looked abandoned.
	for what, c := range map[string]struct {
		driver string
		of     *restorer.Restore
		seen   presence.State
	}{
		"its own":             {disks, restorer.New("shop", "back", "r1"), presence.Here},
		"another namespace's": {disks, restorer.New("thief", "back", "r1"), ""},
		"another name's":      {disks, restorer.New("shop", "x", "r1"), ""},
		"another driver's":    {"tapes.example.com", restorer.New("shop", "back", "r1"), ""},
	} {
		w := see(t, c.driver, c.of, append(intended(t), claimFor("thief", "back", "c2"))...)
		if w.Intent.Sight != c.seen || c.seen == "" && w.Request != "" {
			t.Errorf("%s: %+v", what, w)
		}
	}
}

// TestAnIntentIsHeldToItsOwnVolume: a claim can be made to name any volume, which would pass for the owner of the one
// that is being made.
func TestAnIntentIsHeldToItsOwnVolume(t *testing.T) {
	objects := intended(t)
	objects[1].(*corev1.PersistentVolumeClaim).Spec.VolumeName = "any"
	theirs := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "any"}}
	if w := see(t, disks, restorer.New("shop", "back", "r1"), append(objects, theirs)...); w.PV.Sight != restorer.NoPV || w.PV.Name != restorer.VolumeName("r1") {
		t.Errorf("%+v", w.PV)
	}
}

// TestAVolumeThatIsReclaimedIsNotMoved: its holder is gone, and its data is being deleted, since the request was accepted.
func TestAVolumeThatIsReclaimedIsNotMoved(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*corev1.PersistentVolume)
		want   restorer.PVSight
	}{
		"held":              {func(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeBound }, restorer.Held},
		"released":          {func(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeReleased }, restorer.Strange},
		"not to be deleted": {func(v *corev1.PersistentVolume) { v.Status.Phase = corev1.VolumeFailed }, restorer.Strange},
		"released and kept": {func(v *corev1.PersistentVolume) {
			v.Status.Phase, v.Spec.PersistentVolumeReclaimPolicy = corev1.VolumeReleased, corev1.PersistentVolumeReclaimRetain
		}, restorer.Held},
		"deleted": {func(v *corev1.PersistentVolume) {
			v.Finalizers, v.DeletionTimestamp = []string{"kubernetes.io/pv-protection"}, &metav1.Time{Time: time.Now()}
		}, restorer.Strange},
	} {
		objects := append(intended(t)[:2], intended(t)[3])
		objects[0].(*capturev1.VolumeRestoreRequest).Status.Source = &capturev1.ResolvedSource{
			Driver: disks, Volume: &capturev1.DetachedSource{Name: "volume", UID: "v1", HolderUID: "h1"},
		}
		v := newShelf().volume
		v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
		c.change(v)
		if w := see(t, disks, restorer.New("shop", "back", "r1"), append(objects, v)...); w.PV.Sight != c.want {
			t.Errorf("%s: %+v", what, w.PV)
		}
	}
}

// TestAClaimOfARestoreOfManifestsIsReserved: both sides see it, also when the request is gone.
func TestAClaimOfARestoreOfManifestsIsReserved(t *testing.T) {
	for _, want := range []bool{false, true} {
		objects := intended(t)
		if want {
			objects[1].SetAnnotations(map[string]string{capturev1.RestoreAnnotation: "r1", manifestrestore.MarkAnnotation: "{}"})
		}
		seen, err := VolumeRestore{Live: read.Live{Reader: serving(t, objects...)}}.claim(t.Context(), objects[0].(*capturev1.VolumeRestoreRequest))
		if err != nil || seen.Sight != presence.Here || seen.Reserved != want {
			t.Errorf("the manager sees %+v: %v", seen, err)
		}
		if w := see(t, disks, restorer.New("shop", "back", "r1"), objects[1:]...); w.Request != restorer.Gone || w.Claim.Reserved != want {
			t.Errorf("the restorer sees %+v", w)
		}
	}
}

// TestAProbeThatIsBeingDeletedIsSeen: it is not deleted again.
func TestAProbeThatIsBeingDeletedIsSeen(t *testing.T) {
	r := intended(t)[0].(*capturev1.VolumeRestoreRequest)
	r.Spec.Rehearsal = &capturev1.Rehearsal{}
	for _, want := range []bool{false, true} {
		job := volumerestore.NewProbe(r, "k1")
		if want {
			job.Finalizers, job.DeletionTimestamp = []string{"somebody.example.com/keep"}, &metav1.Time{Time: time.Now()}
		}
		seen, err := VolumeRestore{Live: read.Live{Reader: serving(t, job)}}.probe(t.Context(), r, "")
		if err != nil || seen.Sight != volumerestore.ProbeRuns || seen.Deleting != want {
			t.Errorf("%+v: %v", seen, err)
		}
	}
}

// TestAClaimThatAVolumeAwaitsIsNotEmpty: with it the volume would go, which may be the only copy.
func TestAClaimThatAVolumeAwaitsIsNotEmpty(t *testing.T) {
	objects := intended(t)
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: restorer.VolumeName("r1"), Annotations: map[string]string{capturev1.RestoreAnnotation: "r1"}},
		Spec:       corev1.PersistentVolumeSpec{ClaimRef: &corev1.ObjectReference{Namespace: "shop", Name: "data", UID: "c1"}},
	}
	for want, more := range map[volumerestore.Volume][]client.Object{"": nil, volumerestore.Awaiting: {volume}} {
		c := serving(t, append(objects, more...)...)
		seen, err := VolumeRestore{Live: read.Live{Reader: c}}.claim(t.Context(), objects[0].(*capturev1.VolumeRestoreRequest))
		if err != nil || seen.Volume != want {
			t.Errorf("%q, want %q: %v", seen.Volume, want, err)
		}
	}
}
