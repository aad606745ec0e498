package observe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// asleep is a watch that has just begun.
type asleep struct{}

func (asleep) Look(schema.GroupVersionKind, read.Key) (*metav1.PartialObjectMetadata, read.Sight) {
	return nil, read.SightNotYet
}

// observed is what a capture of claim data in namespace shop sees among these objects.
func observed(t *testing.T, change func(*capturev1.VolumeCaptureRequest), objects ...client.Object) volumecapture.World {
	t.Helper()
	r := &capturev1.VolumeCaptureRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "before", UID: "r1"},
		Spec:       capturev1.VolumeCaptureRequestSpec{Target: capturev1.ClaimTarget{Name: "data"}, Mode: capturev1.Snapshot},
	}
	r.Status.Phase = volumecapture.Pending
	if change != nil {
		change(r)
	}
	objects = append(objects, r.DeepCopy(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", UID: "n1"}})
	c := serving(t, objects...)
	o := VolumeCapture{Keeping: Keeping{Cached: c, Live: read.Live{Reader: c}}, Live: read.Live{Reader: c}, Watch: asleep{}, Namespace: "system", Rights: (&reviews{allows: true}).rights()}
	w, err := o.Observe(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func claim(uid types.UID, phase corev1.PersistentVolumeClaimPhase) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data", UID: uid},
		Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: "pv1"}, Status: corev1.PersistentVolumeClaimStatus{Phase: phase},
	}
}

func volume(claim types.UID) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv1", UID: "v1"},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi", VolumeHandle: "h1"}},
			ClaimRef:               &corev1.ObjectReference{Namespace: "shop", Name: "data", UID: claim},
		},
	}
}

// A claim that is not bound names whatever volume its maker wrote into it.
func TestOnlyAClaimThatItsVolumeNamesIsBound(t *testing.T) {
	for name, tc := range map[string]struct {
		claim  *corev1.PersistentVolumeClaim
		volume *corev1.PersistentVolume
		target types.UID
		sight  presence.State
		bound  bool
	}{
		"they name each other":               {claim("c1", corev1.ClaimBound), volume("c1"), "", presence.Here, true},
		"the claim waits":                    {claim("c1", corev1.ClaimPending), volume("c1"), "", presence.Here, false},
		"the volume is another's":            {claim("c1", corev1.ClaimBound), volume("c2"), "", presence.Here, false},
		"the claim says Bound all the same":  {claim("c1", corev1.ClaimBound), nil, "", presence.Here, false},
		"another claim is meant":             {claim("c1", corev1.ClaimBound), volume("c1"), "c0", presence.Gone, false},
		"the very claim is meant":            {claim("c1", corev1.ClaimBound), volume("c1"), "c1", presence.Here, true},
		"there is a volume, and no claim":    {nil, volume("c1"), "", presence.Gone, false},
		"the volume was bound by name alone": {claim("c1", corev1.ClaimBound), volume(""), "", presence.Here, false},
	} {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			if tc.claim != nil {
				objects = append(objects, tc.claim)
			}
			if tc.volume != nil {
				objects = append(objects, tc.volume)
			}
			w := observed(t, func(r *capturev1.VolumeCaptureRequest) { r.Spec.Target.UID = tc.target }, objects...)
			if w.Claim.Sight != tc.sight || w.Claim.Bound != tc.bound {
				t.Errorf("claim is %s, bound %v; want %s, %v", w.Claim.Sight, w.Claim.Bound, tc.sight, tc.bound)
			}
		})
	}
}

func class(name, driver string, preferred bool) *snapshotv1.VolumeSnapshotClass {
	c := &snapshotv1.VolumeSnapshotClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Driver: driver}
	if preferred {
		c.Annotations = map[string]string{defaultSnapshotClass: "true"}
	}
	return c
}

func TestClassOfASnapshot(t *testing.T) {
	found := func(name string) volumecapture.Class {
		return volumecapture.Class{Sight: volumecapture.ClassFound, Name: name}
	}
	for name, tc := range map[string]struct {
		named   string
		classes []client.Object
		want    volumecapture.Class
	}{
		"the only one":                       {"", []client.Object{class("a", "csi", false), class("b", "nfs", true)}, found("a")},
		"the default of the driver":          {"", []client.Object{class("a", "csi", false), class("b", "csi", true)}, found("b")},
		"the one that is named":              {"a", []client.Object{class("a", "csi", false), class("b", "csi", true)}, found("a")},
		"none of the driver":                 {"", []client.Object{class("b", "nfs", true)}, volumecapture.Class{Sight: volumecapture.ClassMissing}},
		"none of the name":                   {"a", nil, volumecapture.Class{Sight: volumecapture.ClassMissing}},
		"two, and no default":                {"", []client.Object{class("a", "csi", false), class("b", "csi", false)}, volumecapture.Class{Sight: volumecapture.ClassAmbiguous}},
		"two defaults":                       {"", []client.Object{class("a", "csi", true), class("b", "csi", true)}, volumecapture.Class{Sight: volumecapture.ClassAmbiguous}},
		"the one that is named is another's": {"a", []client.Object{class("a", "nfs", false)}, volumecapture.Class{Sight: volumecapture.ClassOfAnother}},
	} {
		t.Run(name, func(t *testing.T) {
			objects := append(tc.classes, claim("c1", corev1.ClaimBound), volume("c1"))
			w := observed(t, func(r *capturev1.VolumeCaptureRequest) { r.Spec.VolumeSnapshotClassName = tc.named }, objects...)
			if diff := cmp.Diff(tc.want, w.Class); diff != "" {
				t.Errorf("class (-want +got)\n%s", diff)
			}
		})
	}
}

// A squatter's content has the name, and no owner, or one of the same name and another UID.
func TestAContentIsOursOnlyIfOurKeeperOwnsIt(t *testing.T) {
	keeper := request.NewKeeper(&metav1.ObjectMeta{Namespace: "shop", Name: "before", UID: "r1"}, volumeCaptureKind, "n1", request.Terms{})
	keeper.UID = "k1"
	content := func(owner types.UID) *snapshotv1.VolumeSnapshotContent {
		c, err := volumecapture.NewContent(&capturev1.VolumeCaptureRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", UID: "r1"}},
			volumecapture.CreateContent{Keeper: owner, Origin: capturev1.Origin{ClaimUID: "c1"}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	orphan := content("k1")
	orphan.OwnerReferences = nil
	for name, tc := range map[string]struct {
		content *snapshotv1.VolumeSnapshotContent
		want    presence.State
	}{
		"ours":                     {content("k1"), presence.Here},
		"of a keeper of that name": {content("k0"), presence.Other},
		"nobody's":                 {orphan, presence.Other},
	} {
		t.Run(name, func(t *testing.T) {
			w := observed(t, func(r *capturev1.VolumeCaptureRequest) { r.Status.Phase = volumecapture.Capturing }, keeper, tc.content)
			if w.Content.Sight != tc.want {
				t.Errorf("it is %s, want %s", w.Content.Sight, tc.want)
			}
		})
	}
}

var volumeCaptureKind = capturev1.GroupVersion.WithKind("VolumeCaptureRequest")

// The status was lost when the claim was gone and there was no holder: only the mark tells.
func TestAVolumeIsFoundByItsMark(t *testing.T) {
	keeper := request.NewKeeper(&metav1.ObjectMeta{Namespace: "shop", Name: "before", UID: "r1"}, volumeCaptureKind, "n1", request.Terms{})
	keeper.UID = "k1"
	origin := capturev1.Origin{Namespace: "shop", NamespaceUID: "n1", RequestUID: "r1", Claim: "data", ClaimUID: "c1"}
	marked, err := volumecapture.Marked(volume("c1"), volumecapture.MarkVolume{Policy: "Delete", Origin: origin})
	if err != nil {
		t.Fatal(err)
	}
	w := observed(t, func(r *capturev1.VolumeCaptureRequest) { r.Spec.Mode, r.Status.Phase = capturev1.Detach, "" }, keeper, marked)
	want := volumecapture.Volume{
		Sight: presence.Here, Name: "pv1", UID: "v1", Driver: "csi", Handle: "h1", Policy: "Retain", ClaimUID: "c1",
		Mark: volumecapture.Mark{By: "r1", Policy: "Delete", Origin: &origin},
	}
	if diff := cmp.Diff(want, w.Volume, cmpopts.IgnoreFields(volumecapture.Volume{}, "ResourceVersion")); diff != "" {
		t.Errorf("volume (-want +got)\n%s", diff)
	}
}

// A volume that is being deleted is gone as soon as its claim is.
func TestAVolumeThatIsBeingDeletedIsSeen(t *testing.T) {
	for _, want := range []bool{false, true} {
		v := volume("c1")
		if want {
			v.Finalizers, v.DeletionTimestamp = []string{"kubernetes.io/pv-protection"}, &metav1.Time{Time: time.Now()}
		}
		w := observed(t, func(r *capturev1.VolumeCaptureRequest) { r.Spec.Mode = capturev1.Detach }, claim("c1", corev1.ClaimBound), v)
		if w.Volume.Deleting != want {
			t.Errorf("%+v", w.Volume)
		}
	}
}

func TestWhoUsesAClaim(t *testing.T) {
	pod := func(phase corev1.PodPhase, source corev1.VolumeSource) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0"}, Status: corev1.PodStatus{Phase: phase},
			Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "data", VolumeSource: source}}}}
	}
	named := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}
	for name, tc := range map[string]struct {
		pod   *corev1.Pod
		claim string
		want  bool
	}{
		"a running pod":          {pod(corev1.PodRunning, named), "data", true},
		"a pod that waits":       {pod(corev1.PodPending, named), "data", true},
		"a pod that has ended":   {pod(corev1.PodSucceeded, named), "data", false},
		"a pod that has failed":  {pod(corev1.PodFailed, named), "data", false},
		"a pod of another claim": {pod(corev1.PodRunning, named), "other", false},
		"a pod's own volume":     {pod(corev1.PodRunning, corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}), "web-0-data", true},
	} {
		if got := uses(tc.pod, tc.claim); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// What has ended is not looked at: there may be a hundred thousand.
func TestNothingIsReadOfARequestThatHasEnded(t *testing.T) {
	w := observed(t, func(r *capturev1.VolumeCaptureRequest) { r.Status.Phase = volumecapture.Succeeded }, claim("c1", corev1.ClaimBound))
	if diff := cmp.Diff(volumecapture.World{}, w); diff != "" {
		t.Error(diff)
	}
}
