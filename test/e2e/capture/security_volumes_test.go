//go:build full

package capture

import (
	"strings"
	"testing"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// TestSecurityOfOthersVolumes: a capture of another namespace, its content and its volume are restored only by whom it
// was allowed, by name; and whoever has a namespace of the same name later has nothing of it.
func TestSecurityOfOthersVolumes(t *testing.T) {
	s := newStage(t)
	shop, thief := s.team("shop"), s.team("thief")
	s.Namespace = shop.namespace
	source, detached := s.bound("source"), s.bound("detached")
	taken, moved := capture("taken", source.Name, capturev1.Snapshot), capture("moved", detached.Name, capturev1.Detach)
	shop.makes(taken)
	shop.makes(moved)
	s.succeeds(taken)
	s.succeeds(moved)

	steal := func(name string, from capturev1.VolumeSource) *capturev1.VolumeRestoreRequest {
		r := restore(name, "", "stolen-"+name, atOnce, corev1.PersistentVolumeFilesystem)
		r.Spec.Source = from
		return r
	}
	foreign := capturev1.VolumeSource{VolumeCaptureRequest: &capturev1.RequestRef{Name: taken.Name, Namespace: shop.namespace}}
	content := capturev1.VolumeSource{VolumeSnapshotContent: &capturev1.NameRef{Name: contentOf(taken).Name}}
	volume := capturev1.VolumeSource{PersistentVolume: &capturev1.NameRef{Name: moved.Status.ArtifactRef.Name}}
	thief.refused(thief.c, steal("request", foreign), "may not restore volumecapturerequests")
	thief.refused(thief.c, steal("content", content), "may not restore volumesnapshotcontents")
	thief.refused(thief.c, steal("volume", volume), "may not restore persistentvolumes")
	forged := steal("forged", foreign)
	forged.Spec.Requester = &meta.Requester{Username: shop.name, Groups: []string{"system:masters"}}
	thief.refused(thief.c, forged, "may not restore volumecapturerequests")
	other := capture("not-mine", source.Name, capturev1.Snapshot) // its own namespace has no such claim
	thief.makes(other)
	thief.fails(other, string(capturev1.ReasonNotFound))

	// One right opens one door.
	s.allow(thief.name, shop.namespace, "volumecapturerequests", taken.Name)
	allowed := steal("allowed", foreign)
	allowed.Namespace = thief.namespace
	harness.Eventually(t, within, poll, func() error { return thief.c.Create(t.Context(), allowed) })
	s.succeeds(allowed)
	thief.refused(thief.c, steal("content", content), "may not restore volumesnapshotcontents")
	if allowed.Spec.Requester == nil || allowed.Spec.Requester.Username != thief.name {
		t.Errorf("made by %+v", allowed.Spec.Requester)
	}

	// The namespace goes, its captures stay for a while, and somebody else gets the name.
	if err := s.Client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: shop.namespace}}); err != nil {
		t.Fatal(err)
	}
	s.AwaitGone(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: shop.namespace}})
	if err := s.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: shop.namespace}}); err != nil {
		t.Fatal(err)
	}
	successor := s.teamIn("successor", shop.namespace)
	inherited := steal("inherited", capturev1.VolumeSource{VolumeCaptureRequest: &capturev1.RequestRef{Name: taken.Name}})
	successor.makes(inherited)
	successor.fails(inherited, string(capturev1.ReasonNotFound))
	successor.refused(successor.c, steal("content", content), "may not restore volumesnapshotcontents")
	harness.Eventually(t, within, poll, func() error {
		return s.Client.Get(t.Context(), client.ObjectKeyFromObject(contentOf(taken)), &snapshotv1.VolumeSnapshotContent{})
	})
	if !s.backendHas(s.Bed.CSI().Snapshots, taken.Status.SnapshotHandle) {
		t.Error("with the namespace its capture went")
	}
}

// TestSecurityOfNames: names that the product is going to need are taken before; it does not adopt what has them, and
// does not delete it either, whatever labels it bears.
func TestSecurityOfNames(t *testing.T) {
	s := newStage(t)
	source := s.bound("source")
	s.Manager.Stop() // so that names can be taken first
	forKeeper, forContent := capture("keeper", source.Name, capturev1.Snapshot), capture("content", source.Name, capturev1.Snapshot)
	s.Create(forKeeper)
	s.Create(forContent)
	keeper := &capturev1.ObjectKeeper{
		ObjectMeta: metav1.ObjectMeta{Name: keeperOf(forKeeper).Name},
		Spec:       capturev1.ObjectKeeperSpec{Mode: capturev1.TTL, TTL: &metav1.Duration{Duration: time.Hour}},
	}
	shop := s.team("shop")
	shop.refused(s.asOperator(), keeper.DeepCopy(), "belong to the requests")
	s.createCluster(keeper) // as an administrator
	content := contentOf(forContent)
	handle := "somebody-elses"
	content.Labels = map[string]string{manifestcapture.RequestLabel: string(forContent.UID), capturev1.DetachedByLabel: string(forContent.UID)}
	content.Spec = snapshotv1.VolumeSnapshotContentSpec{
		Driver: "hostpath.csi.k8s.io", DeletionPolicy: snapshotv1.VolumeSnapshotContentRetain,
		Source:            snapshotv1.VolumeSnapshotContentSource{SnapshotHandle: &handle},
		VolumeSnapshotRef: corev1.ObjectReference{Namespace: "somewhere", Name: "else"},
	}
	s.createCluster(content)
	t.Cleanup(func() { s.Delete(keeper); s.Delete(content) })
	s.Manager.Start()
	for _, r := range []*capturev1.VolumeCaptureRequest{forKeeper, forContent} {
		if c := s.ended(r); c.Reason != string(capturev1.ReasonNameTaken) {
			t.Errorf("%s: %s, %s", r.Name, c.Reason, c.Message)
		}
		s.Delete(r)
		s.AwaitGone(r)
	}
	s.AwaitGone(keeperOf(forContent))
	for _, theirs := range []client.Object{keeper, content} {
		uid := theirs.GetUID()
		if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(theirs), theirs); err != nil || theirs.GetUID() != uid || theirs.GetDeletionTimestamp() != nil {
			t.Errorf("what somebody else has made is not as it was: %T %v", theirs, err)
		}
	}
}

// asOperator is somebody who may do everything with the kinds of the area, and is not the manager.
func (s *stage) asOperator() client.Client {
	s.T.Helper()
	harness.Apply(s.T, s.Bed, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: an-operator}
rules: [{apiGroups: [capture.statecraft.dev], resources: ["*"], verbs: ["*"]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: an-operator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: an-operator}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: an-operator}]
`)
	c := s.as("an-operator")
	harness.Eventually(s.T, within, poll, func() error { return c.List(s.T.Context(), &capturev1.ObjectKeeperList{}) })
	return c
}

func (s *stage) createCluster(obj client.Object) {
	s.T.Helper()
	if err := s.Client.Create(s.T.Context(), obj); err != nil {
		s.T.Fatal(err)
	}
}

// TestSecurityOfTheRestorer: whoever has taken over a restorer makes no volume of another driver, nor of a path of a
// node, and takes no volume from its claim.
func TestSecurityOfTheRestorer(t *testing.T) {
	s := newStage(t)
	source := s.bound("source")
	user := "system:serviceaccount:" + harness.SystemNamespace + ":" + restorer
	as, err := client.New(s.Bed.ConfigFor(user, "system:serviceaccounts", "system:serviceaccounts:"+harness.SystemNamespace), client.Options{Scheme: s.Client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	volume := func(name string, from corev1.PersistentVolumeSource) *corev1.PersistentVolume {
		return &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PersistentVolumeSpec{
				Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				ClaimRef: &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: s.Namespace, Name: "x", UID: "1"}, PersistentVolumeSource: from,
			},
		}
	}
	for name, from := range map[string]corev1.PersistentVolumeSource{
		"another-driver": {CSI: &corev1.CSIPersistentVolumeSource{Driver: "other.example.com", VolumeHandle: "x"}},
		"a-path":         {HostPath: &corev1.HostPathVolumeSource{Path: "/etc"}},
	} {
		if err := as.Create(t.Context(), volume(name, from)); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "and no others") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(source), source); err != nil {
		t.Fatal(err)
	}
	bound := &corev1.PersistentVolume{}
	if err := s.Client.Get(t.Context(), client.ObjectKey{Name: source.Spec.VolumeName}, bound); err != nil {
		t.Fatal(err)
	}
	stolen := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"claimRef":{"name":"x","uid":"1"}}}`))
	if err := as.Patch(t.Context(), bound, stolen); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "only a volume that was detached") {
		t.Errorf("a volume was taken from its claim: %v", err)
	}
	for what, list := range map[string]client.ObjectList{"Secrets": &corev1.SecretList{}, "captures": &capturev1.VolumeCaptureRequestList{}} {
		if err := as.List(t.Context(), list, client.InNamespace(s.Namespace)); what == "Secrets" && !apierrors.IsForbidden(err) {
			t.Errorf("a restorer lists %s: %v", what, err)
		}
	}
}
