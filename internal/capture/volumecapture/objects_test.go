package volumecapture

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

func TestSecretOf(t *testing.T) {
	for name, tc := range map[string]struct {
		name, namespace string
		want            Secret
		ok              bool
	}{
		"none":                        {ok: true},
		"plain":                       {"key", "vault", Secret{"key", "vault"}, true},
		"of the content":              {"${volumesnapshotcontent.name}", "vault", Secret{"capture-r1", "vault"}, true},
		"of the namespace":            {"key-${volumesnapshot.name}", "${volumesnapshot.namespace}", Secret{"key-capture-r1", "shop"}, true},
		"half of one":                 {"key", "", Secret{}, false},
		"an unknown variable":         {"${pvc.name}", "vault", Secret{}, false},
		"a name where none may be":    {"key", "${volumesnapshot.name}", Secret{}, false},
		"a variable that is not ours": {"key", "${snapshot.namespace}", Secret{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := SecretOf(map[string]string{secretName: tc.name, secretNamespace: tc.namespace}, "r1", "shop")
			if got != tc.want || ok != tc.ok {
				t.Errorf("%+v, %v; want %+v, %v", got, ok, tc.want, tc.ok)
			}
		})
	}
}

func TestContent(t *testing.T) {
	got, err := NewContent(object(), CreateContent{
		Keeper: "k1", Driver: "csi", Handle: "h1", Mode: "Block", Class: "fast", Secret: Secret{"key", "vault"},
		Origin: capturev1.Origin{Namespace: "shop", NamespaceUID: "n1", RequestUID: "r1", Claim: "data", ClaimUID: "c1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `
metadata:
  annotations:
    capture.statecraft.dev/origin: '{"namespace":"shop","namespaceUID":"n1","requestUID":"r1","claim":"data","claimUID":"c1"}'
    snapshot.storage.kubernetes.io/deletion-secret-name: key
    snapshot.storage.kubernetes.io/deletion-secret-namespace: vault
    snapshot.storage.kubernetes.io/volumesnapshot-being-deleted: "yes"
  finalizers: [snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection]
  name: capture-r1
  ownerReferences:
  - {apiVersion: capture.statecraft.dev/v1alpha1, kind: ObjectKeeper, name: request-r1, uid: k1, controller: true, blockOwnerDeletion: false}
spec:
  deletionPolicy: Delete
  driver: csi
  source: {volumeHandle: h1}
  sourceVolumeMode: Block
  volumeSnapshotClassName: fast
  volumeSnapshotRef: {apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshot, namespace: shop, name: capture-r1, uid: r1}
`
	golden(t, got, want, &snapshotv1.VolumeSnapshotContent{})
	if o := OriginOf(got); o == nil || o.ClaimUID != "c1" {
		t.Errorf("the origin is not found again: %+v", o)
	}
}

func golden[T any](t *testing.T, got T, text string, want T) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func volume() *corev1.PersistentVolume {
	mode := corev1.PersistentVolumeBlock
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv1", Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, VolumeMode: &mode, StorageClassName: "gold",
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
		},
	}
}

func TestHolder(t *testing.T) {
	golden(t, NewHolder("r1", "k1", "system", volume()), `
metadata:
  namespace: system
  name: detached-r1
  ownerReferences:
  - {apiVersion: capture.statecraft.dev/v1alpha1, kind: ObjectKeeper, name: request-r1, uid: k1, controller: true, blockOwnerDeletion: false}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
  storageClassName: gold
  volumeMode: Block
  volumeName: pv1
`, &corev1.PersistentVolumeClaim{})
}

func TestAMarkIsFoundAgainAndTakenBack(t *testing.T) {
	origin := capturev1.Origin{Namespace: "shop", NamespaceUID: "n1", RequestUID: "r1", Claim: "data", ClaimUID: "c1"}
	marked, err := Marked(volume(), MarkVolume{Policy: "Delete", Origin: origin})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Mark{By: "r1", Policy: "Delete", Origin: &origin}, MarkOf(marked)); diff != "" {
		t.Errorf("mark (-want +got)\n%s", diff)
	}
	if p := marked.Spec.PersistentVolumeReclaimPolicy; p != corev1.PersistentVolumeReclaimRetain {
		t.Errorf("policy is %s", p)
	}
	if diff := cmp.Diff(volume(), Unmarked(marked, "Delete")); diff != "" {
		t.Errorf("unmarked (-want +got)\n%s", diff)
	}
}

func TestNeedsNudge(t *testing.T) {
	now := time.Unix(1_700_000_000, 0).UTC()
	ago := func(d time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(-d)} }
	for name, tc := range map[string]struct {
		change func(*snapshotv1.VolumeSnapshotContent)
		needed bool
		again  time.Duration
	}{
		"it is not deleted":       {func(c *snapshotv1.VolumeSnapshotContent) { c.DeletionTimestamp = nil }, false, 0},
		"it was deleted just now": {func(c *snapshotv1.VolumeSnapshotContent) { c.DeletionTimestamp = ago(4 * time.Second) }, false, 6 * time.Second},
		"it hangs":                {func(*snapshotv1.VolumeSnapshotContent) {}, true, hangs},
		"its snapshot is being made": {func(c *snapshotv1.VolumeSnapshotContent) {
			c.Annotations[BeingCreated] = "yes"
		}, false, hangs},
		"it was kicked": {func(c *snapshotv1.VolumeSnapshotContent) {
			c.Annotations[NudgeAnnotation] = now.Add(-2 * time.Second).Format(time.RFC3339)
		}, false, 12 * time.Second},
		"it was kicked long ago": {func(c *snapshotv1.VolumeSnapshotContent) {
			c.Annotations[NudgeAnnotation] = now.Add(-16 * time.Second).Format(time.RFC3339)
		}, true, hangs},
		"it hangs for long, and is kicked less often": {func(c *snapshotv1.VolumeSnapshotContent) {
			c.DeletionTimestamp = ago(120 * time.Second)
			c.Annotations[NudgeAnnotation] = now.Add(-20 * time.Second).Format(time.RFC3339)
		}, false, 30 * time.Second},
		"nobody waits for the sidecar": {func(c *snapshotv1.VolumeSnapshotContent) { c.Finalizers = []string{"example.com/other"} }, false, 0},
		"it is owned by another's keeper": {func(c *snapshotv1.VolumeSnapshotContent) {
			c.OwnerReferences[0].Name = "request-r2"
		}, false, 0},
		"it is not owned":      {func(c *snapshotv1.VolumeSnapshotContent) { c.OwnerReferences = nil }, false, 0},
		"it has another name":  {func(c *snapshotv1.VolumeSnapshotContent) { c.Name = "snapcontent-r1" }, false, 0},
		"it is owned by a Pod": {func(c *snapshotv1.VolumeSnapshotContent) { c.OwnerReferences[0].Kind = "Pod" }, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := NewContent(object(), CreateContent{Keeper: "k1"})
			if err != nil {
				t.Fatal(err)
			}
			c.DeletionTimestamp = ago(30 * time.Second)
			tc.change(c)
			if needed, again := NeedsNudge(c, now); needed != tc.needed || again != tc.again {
				t.Errorf("%v, again in %s; want %v, %s", needed, again, tc.needed, tc.again)
			}
		})
	}
}
