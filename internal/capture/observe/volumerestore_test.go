package observe

import (
	"testing"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// shelf is a namespace with one capture of each kind, ready to be restored.
type shelf struct {
	namespace    *corev1.Namespace
	daily, taken *capturev1.VolumeCaptureRequest
	content      *snapshotv1.VolumeSnapshotContent
	volume       *corev1.PersistentVolume
	class        *storagev1.StorageClass
	request      *capturev1.VolumeRestoreRequest
}

func newShelf() *shelf {
	ready, handle, size := true, "snap-1", int64(1<<30)
	s := &shelf{
		namespace: &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", UID: "n1"}},
		content: &snapshotv1.VolumeSnapshotContent{
			ObjectMeta: metav1.ObjectMeta{Name: "content", UID: "c1"},
			Spec:       snapshotv1.VolumeSnapshotContentSpec{Driver: "disks.example.com", VolumeSnapshotRef: corev1.ObjectReference{UID: "daily"}},
			Status:     &snapshotv1.VolumeSnapshotContentStatus{ReadyToUse: &ready, SnapshotHandle: &handle, RestoreSize: &size},
		},
		volume: &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: "volume", UID: "v1", Labels: map[string]string{capturev1.DetachedByLabel: "taken"}},
			Spec: corev1.PersistentVolumeSpec{
				ClaimRef:               &corev1.ObjectReference{Namespace: "system", Name: volumecapture.HolderName("taken"), UID: "h1"},
				PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "disks.example.com"}},
			},
		},
		class:   &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "disks"}, Provisioner: "disks.example.com"},
		request: &capturev1.VolumeRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "back", UID: "r1"}},
	}
	s.daily = finished("daily", &capturev1.ArtifactRef{Kind: "VolumeSnapshotContent", Name: "content", UID: "c1"})
	s.taken = finished("taken", &capturev1.ArtifactRef{Kind: "PersistentVolume", Name: "volume", UID: "v1"})
	s.from("daily")
	return s
}

func finished(name string, made *capturev1.ArtifactRef) *capturev1.VolumeCaptureRequest {
	c := &capturev1.VolumeCaptureRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)}}
	c.Status.ArtifactRef = made
	c.Status.Origin = &capturev1.Origin{Namespace: "shop", NamespaceUID: "n1", RequestUID: c.UID}
	c.Status.Conditions = []metav1.Condition{{Type: fsm.Ready, Status: metav1.ConditionTrue, Reason: "Completed"}}
	return c
}

func (s *shelf) from(capture string) {
	s.request.Spec.Source = capturev1.VolumeSource{VolumeCaptureRequest: &capturev1.RequestRef{Name: capture}}
	class := "disks"
	s.request.Spec.VolumeClaimTemplate.Spec.StorageClassName = &class
}

// let is how far the volume is out of its holder's hands.
func (s *shelf) let(phase corev1.PersistentVolumePhase, policy corev1.PersistentVolumeReclaimPolicy) {
	s.volume.Status.Phase, s.volume.Spec.PersistentVolumeReclaimPolicy = phase, policy
}

func (s *shelf) look(t *testing.T) volumerestore.Source {
	t.Helper()
	somebodys := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: volumecapture.HolderName("taken"), UID: "h1"}}
	objects := []client.Object{s.namespace, s.daily, s.taken, s.content, s.volume, s.class, somebodys}
	c := serving(t, objects...)
	found, err := VolumeRestore{Live: read.Live{Reader: c}, Namespace: "system"}.source(t.Context(), s.request)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestWhatCanBeRestored(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*shelf)
		want   volumerestore.Sight
	}{
		"a capture that is ready":                       {func(*shelf) {}, volumerestore.Ready},
		"one that does not exist":                       {func(s *shelf) { s.from("weekly") }, volumerestore.Missing},
		"another that has its name":                     {func(s *shelf) { s.request.Spec.Source.VolumeCaptureRequest.UID = "x" }, volumerestore.Missing},
		"one that goes on":                              {func(s *shelf) { s.daily.Status.Conditions = nil }, volumerestore.Unfinished},
		"one that failed":                               {func(s *shelf) { s.daily.Status.Conditions[0].Status = metav1.ConditionFalse }, volumerestore.NotReady},
		"one of a namespace that had this name before":  {func(s *shelf) { s.namespace.UID = "n2" }, volumerestore.Foreign},
		"one whose status is that of another":           {func(s *shelf) { s.daily.Status.Origin.RequestUID = "x" }, volumerestore.Foreign},
		"one that does not say where it comes from":     {func(s *shelf) { s.daily.Status.Origin = nil }, volumerestore.Foreign},
		"another content has the name of what was made": {func(s *shelf) { s.content.UID = "c2" }, volumerestore.Missing},
		"a snapshot that is not ready":                  {func(s *shelf) { s.content.Status = nil }, volumerestore.Unfinished},
		"a content by its name": {func(s *shelf) {
			s.request.Spec.Source = capturev1.VolumeSource{VolumeSnapshotContent: &capturev1.NameRef{Name: "content"}}
		}, volumerestore.Ready},
		"a content by its name, but another has it by now": {func(s *shelf) {
			s.request.Spec.Source = capturev1.VolumeSource{VolumeSnapshotContent: &capturev1.NameRef{Name: "content", UID: "x"}}
		}, volumerestore.Missing},
		"a capture that names the snapshot of nobody":  {func(s *shelf) { s.content.Spec.VolumeSnapshotRef.UID = "" }, volumerestore.Foreign},
		"a capture that names the snapshot of another": {func(s *shelf) { s.content.Spec.VolumeSnapshotRef.UID = "x" }, volumerestore.Foreign},
		"a capture that names the volume of another": {func(s *shelf) {
			s.from("taken")
			s.volume.Labels[capturev1.DetachedByLabel] = "x"
		}, volumerestore.Foreign},
		"a detached volume": {func(s *shelf) { s.from("taken") }, volumerestore.Ready},
		"a detached volume by its name": {func(s *shelf) {
			s.request.Spec.Source = capturev1.VolumeSource{PersistentVolume: &capturev1.NameRef{Name: "volume"}}
		}, volumerestore.Ready},
		"a detached volume that nobody holds yet": {func(s *shelf) { s.from("taken"); s.volume.Spec.ClaimRef = nil }, volumerestore.Unfinished},
		"a detached volume that is somebody's":    {func(s *shelf) { s.from("taken"); s.volume.Spec.ClaimRef.Namespace = "shop" }, volumerestore.Consumed},
		"one whose capture failed when its claim was gone": {func(s *shelf) {
			s.request.Spec.Source = capturev1.VolumeSource{PersistentVolume: &capturev1.NameRef{Name: "volume"}}
			s.volume.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "shop", Name: "long-gone", UID: "x"}
		}, volumerestore.Ready},
		"a detached volume that is ours already": {func(s *shelf) {
			s.from("taken")
			s.volume.Spec.ClaimRef.Namespace = "shop"
			s.volume.Annotations = map[string]string{capturev1.RestoreAnnotation: "r1"}
		}, volumerestore.Ready},
		"a detached volume that was moved, and is like any other now": {func(s *shelf) {
			s.from("taken")
			s.volume.Spec.ClaimRef.Namespace, s.volume.Labels = "shop", nil
			s.volume.Annotations = map[string]string{capturev1.RestoreAnnotation: "r0"}
		}, volumerestore.Consumed},
		"one that was moved and detached again": {func(s *shelf) {
			s.from("taken")
			s.volume.Annotations = map[string]string{capturev1.RestoreAnnotation: "r0"}
		}, volumerestore.Ready},
		"a detached volume that somebody deletes": {func(s *shelf) {
			s.from("taken")
			s.volume.Finalizers, s.volume.DeletionTimestamp = []string{"kubernetes.io/pv-protection"}, &metav1.Time{Time: time.Now()}
		}, volumerestore.NotReady},
		"one whose holder is gone":                         {func(s *shelf) { s.from("taken"); s.let(corev1.VolumeReleased, "Delete") }, volumerestore.NotReady},
		"one whose deletion failed":                        {func(s *shelf) { s.from("taken"); s.let(corev1.VolumeFailed, "Delete") }, volumerestore.NotReady},
		"one whose holder is gone, and that is kept":       {func(s *shelf) { s.from("taken"); s.let(corev1.VolumeReleased, "Retain") }, volumerestore.Ready},
		"one that is held, and goes with its holder":       {func(s *shelf) { s.from("taken"); s.let(corev1.VolumeBound, "Delete") }, volumerestore.Ready},
		"another volume has the name of what was detached": {func(s *shelf) { s.from("taken"); s.volume.UID = "v2" }, volumerestore.Missing},
		"a volume that was not detached": {func(s *shelf) {
			s.request.Spec.Source = capturev1.VolumeSource{PersistentVolume: &capturev1.NameRef{Name: "volume"}}
			s.volume.Labels = nil
		}, volumerestore.Unfit},
		"a volume of no driver": {func(s *shelf) {
			s.from("taken")
			s.volume.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/etc"}}
		}, volumerestore.Unfit},
	} {
		s := newShelf()
		c.change(s)
		found := s.look(t)
		if found.Sight != c.want || (found.Sight == volumerestore.Ready) != (found.Resolved != nil) {
			t.Errorf("%s: %+v, want %s", what, found, c.want)
		}
	}
}

func TestTheClassThatAClaimWillHave(t *testing.T) {
	for what, c := range map[string]struct {
		change func(*shelf)
		want   volumerestore.Class
	}{
		"the one that it names":  {func(*shelf) {}, volumerestore.Class{Name: "disks", Provisioner: "disks.example.com"}},
		"none of that name":      {func(s *shelf) { s.class.Name = "others" }, volumerestore.Class{Name: "disks", Missing: true}},
		"no name and no default": {func(s *shelf) { s.request.Spec.VolumeClaimTemplate.Spec.StorageClassName = nil }, volumerestore.Class{Missing: true}},
		"no name and a default": {func(s *shelf) {
			s.request.Spec.VolumeClaimTemplate.Spec.StorageClassName = nil
			s.class.Annotations = map[string]string{defaultStorage: "true"}
		}, volumerestore.Class{Name: "disks", Provisioner: "disks.example.com"}},
	} {
		s := newShelf()
		c.change(s)
		if found := s.look(t); found.Class != c.want {
			t.Errorf("%s: %+v, want %+v", what, found.Class, c.want)
		}
	}
}
