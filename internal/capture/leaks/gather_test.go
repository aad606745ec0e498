package leaks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

const requestUID = "11111111-2222-3333-4444-555555555555"

func objectMeta(namespace, name string, owned bool) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: metav1.Time{Time: ago(old)}}
	if owned {
		m.OwnerReferences = []metav1.OwnerReference{request.KeptBy(requestUID, "k1")}
	}
	return m
}

// captured is everything that captures and restores leave in a cluster.
func captured() []client.Object {
	vcr := &capturev1.VolumeCaptureRequest{ObjectMeta: objectMeta("shop", "data", false)}
	vcr.UID = requestUID
	vcr.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Completed"}}
	size := resource.MustParse("1Gi")
	vcr.Status.RestoreSize, vcr.Status.ArtifactRef = &size, &capturev1.ArtifactRef{Kind: "VolumeSnapshotContent", Name: "capture-" + requestUID}
	mcr := &capturev1.ManifestCaptureRequest{ObjectMeta: objectMeta("shop", "all", false)}
	mcr.UID, mcr.Status.CheckpointRef, mcr.Status.Captured = "r2", &capturev1.ArtifactRef{Kind: "ManifestCheckpoint", Name: "r2"}, 3
	vcr.Spec.Target.Name = "data"
	keeper := &capturev1.ObjectKeeper{ObjectMeta: objectMeta("", request.KeeperName(requestUID), false)}
	keeper.UID, keeper.Spec.FollowRef = "k1", &capturev1.FollowRef{Kind: "VolumeCaptureRequest", Namespace: "shop", Name: "data", UID: requestUID}
	keeper.Status.ExpiresAt = &metav1.Time{Time: now}
	content := &snapshotv1.VolumeSnapshotContent{ObjectMeta: objectMeta("", "capture-"+requestUID, true)}
	content.Spec.Driver = "disks"
	content.Status = &snapshotv1.VolumeSnapshotContentStatus{SnapshotHandle: new("s1"), RestoreSize: new(int64(1 << 30))}
	content.Annotations = map[string]string{originAnnotation: `{"requestUID":"` + requestUID + `","claim":"data"}`}
	theirs := &snapshotv1.VolumeSnapshotContent{ObjectMeta: objectMeta("", "snapcontent-1", false)}
	theirs.Spec.Driver, theirs.Spec.Source.SnapshotHandle = "disks", new("s2")
	checkpoint := &capturev1.ManifestCheckpoint{ObjectMeta: objectMeta("", "r2", true)}
	checkpoint.Spec.Origin.RequestUID, checkpoint.Spec.Bytes, checkpoint.Spec.Objects = "r2", 2<<20, 3
	checkpoint.Spec.Volumes = []capturev1.ManifestVolume{{Claim: "data", VolumeCaptureRequest: "data"}, {Claim: "tmp", Empty: true}}
	checkpoint.Spec.Chunks = []capturev1.ChunkRef{{Name: requestUID + "-0-a"}}
	chunk := &capturev1.ManifestCheckpointContentChunk{ObjectMeta: objectMeta("", requestUID+"-0-a", false)}
	holder := &corev1.PersistentVolumeClaim{ObjectMeta: objectMeta("system", "detached-"+requestUID, true)}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: objectMeta("system", "theirs", false)}
	volume := &corev1.PersistentVolume{ObjectMeta: objectMeta("", "pv-1", false)}
	volume.Labels = map[string]string{detachedBy: requestUID}
	volume.Status.Phase = corev1.VolumeBound
	volume.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "disks", VolumeHandle: "v1"}
	other := &corev1.PersistentVolume{ObjectMeta: objectMeta("", "pv-2", false)}
	intent := &corev1.ConfigMap{ObjectMeta: objectMeta("csi", "restore-"+requestUID, false)}
	intent.Labels = map[string]string{intentLabel: "disks"}
	settings := &corev1.ConfigMap{ObjectMeta: objectMeta("csi", "settings", false)}
	return []client.Object{vcr, mcr, keeper, content, theirs, checkpoint, chunk, holder, claim, volume, other, intent, settings}
}

func reader(t *testing.T, hooks interceptor.Funcs, objs ...client.Object) read.Live {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, snapshotv1.AddToScheme, capturev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return read.Live{Reader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objs...).WithInterceptorFuncs(hooks).Build()}
}

func TestLook(t *testing.T) {
	inv, err := Gatherer{Live: reader(t, interceptor.Funcs{}, captured()...), Namespace: "system", Intents: true}.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	requests := inv.Sized()
	if len(requests) != 2 || requests[0].Ready != "True" || requests[0].Size.String() != "1Gi" || requests[1].Size.String() != "2Mi" || requests[1].Ended() {
		t.Errorf("requests %+v", requests)
	}
	if requests[0].What != "claim data" || requests[1].What != "3 objects" {
		t.Errorf("what was captured is %q and %q", requests[0].What, requests[1].What)
	}
	var kept []string
	for _, r := range inv.Retained() {
		kept = append(kept, fmt.Sprintf("%s, %s: %s", r.What, r.Size, strings.ReplaceAll(r.Source, requestUID, "UID")))
	}
	slices.Sort(kept)
	if diff := cmp.Diff([]string{", 0: persistentVolume: pv-1", "3 objects, volumes of data, 2Mi: checkpoint: r2", "claim data, 1Gi: volumeSnapshotContent: capture-UID"}, kept); diff != "" {
		t.Error(diff)
	}
	if inv.CheckpointBytes() != 2<<20 {
		t.Errorf("%d bytes", inv.CheckpointBytes())
	}
	keepers := []Keeper{{Name: "request-" + requestUID, UID: "k1", Follows: requestUID, Kind: "VolumeCaptureRequest", Of: Name{"shop", "data"}, Created: ago(old), Expires: &now}}
	if diff := cmp.Diff(keepers, inv.Keepers, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); diff != "" {
		t.Error(diff)
	}
	got := map[string]types.UID{}
	for _, a := range inv.Artifacts {
		got[fmt.Sprintf("%s %s kept by %v", a.Kind, strings.ReplaceAll(a.Name, requestUID, "UID"), a.Keepers)] = a.Request
	}
	want := map[string]types.UID{
		"VolumeSnapshotContent capture-UID kept by [k1]":    requestUID,
		"ManifestCheckpoint r2 kept by [k1]":                "r2",
		"ManifestCheckpointContentChunk UID-0-a kept by []": requestUID,
		"PersistentVolumeClaim detached-UID kept by [k1]":   requestUID,
		"PersistentVolume pv-1 kept by []":                  requestUID,
		"ConfigMap restore-UID kept by []":                  requestUID,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	handles := map[Handle]bool{{"disks", true, "s1"}: true, {"disks", true, "s2"}: true, {"disks", false, "v1"}: true}
	if diff := cmp.Diff(handles, inv.Handles); diff != "" {
		t.Error(diff)
	}
}

func TestWhatTheClusterDoesNotHaveIsNoError(t *testing.T) {
	refused := errors.New("no list today")
	for name, tc := range map[string]struct {
		err  error
		want error
	}{
		"a kind that is not installed": {&apimeta.NoKindMatchError{}, nil},
		"a list that fails":            {refused, refused},
	} {
		t.Run(name, func(t *testing.T) {
			hooks := interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
				if _, ok := list.(*snapshotv1.VolumeSnapshotContentList); ok {
					return tc.err
				}
				return c.List(ctx, list, opts...)
			}}
			inv, err := Gatherer{Live: reader(t, hooks, captured()...), Namespace: "system"}.Look(t.Context())
			if !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
			if len(inv.Artifacts) != 4 { // but the content, and intents, which nobody asked for
				t.Errorf("artifacts %+v", inv.Artifacts)
			}
		})
	}
}

// TestAllPagesAreRead serves keepers in two pages, the second with fewer fields than the first.
func TestAllPagesAreRead(t *testing.T) {
	var asked []string
	hooks := interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		keepers, ok := list.(*capturev1.ObjectKeeperList)
		if !ok {
			return c.List(ctx, list, opts...)
		}
		if len(keepers.Items) > 0 || keepers.Continue != "" {
			t.Error("a page is read over another one")
		}
		o := (&client.ListOptions{}).ApplyOptions(opts)
		if asked = append(asked, o.Continue); len(asked) > 2 {
			return fmt.Errorf("asked for pages %q", asked)
		}
		switch o.Continue {
		case "":
			keepers.Items = []capturev1.ObjectKeeper{{ObjectMeta: objectMeta("", "first", false)}}
			keepers.Continue = "more"
		case "more":
			keepers.Items = []capturev1.ObjectKeeper{{ObjectMeta: objectMeta("", "second", false)}}
		}
		return nil
	}}
	inv, err := Gatherer{Live: reader(t, hooks)}.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(inv.Keepers) != 2 || inv.Keepers[0].Name != "first" || inv.Keepers[1].Name != "second" {
		t.Errorf("keepers %+v", inv.Keepers)
	}
}
