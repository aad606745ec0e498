package capture

import (
	"cmp"
	"context"
	"strings"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

var (
	contentKind = snapshotv1.SchemeGroupVersion.WithKind("VolumeSnapshotContent")
	claimKind   = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	volumeKind  = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolume"}
)

// KeeperWakes are what wakes a keeper: whatever it follows.
func KeeperWakes(waker *kube.Waker) []kube.Wake {
	return []kube.Wake{{Name: "followed", Optional: []schema.GroupVersionKind{}, Waker: waker,
		Find: func(ctx context.Context, cached read.Reader, obj client.Object) []read.Key {
			return named(ctx, cached, &capturev1.ObjectKeeperList{}, followedUID, string(obj.GetUID()))
		}}}
}

// VolumeCaptureWakes are what wakes a capture of a volume. Names of what captures make hold the
// request's UID; that somebody else may have such a name only costs a look.
func VolumeCaptureWakes(c Config, waker *kube.Waker) []kube.Wake {
	optional := func(name string, kind schema.GroupVersionKind, by func(client.Object) string) kube.Wake {
		return kube.Wake{Name: name, Optional: []schema.GroupVersionKind{kind}, Waker: waker,
			Find: func(ctx context.Context, cached read.Reader, obj client.Object) []read.Key {
				return named(ctx, cached, &capturev1.VolumeCaptureRequestList{}, wokenBy, by(obj))
			}}
	}
	return []kube.Wake{
		optional("content", contentKind, func(obj client.Object) string { return ofRequest(obj, volumecapture.ContentPrefix) }),
		optional("claim", claimKind, func(obj client.Object) string { return "claim/" + obj.GetNamespace() + "/" + obj.GetName() }),
		optional("holder", claimKind, func(obj client.Object) string {
			if obj.GetNamespace() != c.Namespace {
				return ""
			}
			return ofRequest(obj, volumecapture.HolderName(""))
		}),
		optional("volume", volumeKind, func(obj client.Object) string { return "volume/" + obj.GetName() }),
		{Name: "keeper", Of: &capturev1.ObjectKeeper{}, Find: followedBy("VolumeCaptureRequest")},
	}
}

// ofRequest is the entry of the index by the request's UID that the name of obj ends with.
func ofRequest(obj client.Object, prefix string) string {
	uid, is := strings.CutPrefix(obj.GetName(), prefix)
	if !is {
		return ""
	}
	return "uid/" + uid
}

// VolumeRestoreWakes are what wakes a restore of a volume.
func VolumeRestoreWakes() []kube.Wake {
	by := func(kind string) func(context.Context, read.Reader, client.Object) []read.Key {
		return func(ctx context.Context, cached read.Reader, obj client.Object) []read.Key {
			return named(ctx, cached, &capturev1.VolumeRestoreRequestList{}, wokenBy, kind+"/"+obj.GetNamespace()+"/"+obj.GetName())
		}
	}
	return []kube.Wake{
		{Name: "claims", Of: claimNames(), Find: by("claim")},
		{Name: "captures", Of: &capturev1.VolumeCaptureRequest{}, Find: by("capture")},
		{Name: "keepers", Of: &capturev1.ObjectKeeper{}, Find: followedBy("VolumeRestoreRequest")},
	}
}

// ManifestCaptureWakes are what wakes a capture of manifests: its own work.
func ManifestCaptureWakes(waker *kube.Waker) []kube.Wake {
	return []kube.Wake{{Name: "work", Waker: waker}}
}

// ManifestRestoreWakes are what wakes a restore of manifests.
func ManifestRestoreWakes(waker *kube.Waker) []kube.Wake {
	return []kube.Wake{
		{Name: "work", Waker: waker},
		{Name: "volumes", Of: &capturev1.VolumeRestoreRequest{}, Find: func(_ context.Context, _ read.Reader, obj client.Object) []read.Key {
			name := obj.GetAnnotations()[manifestrestore.RequestAnnotation]
			if name == "" {
				return nil
			}
			return []read.Key{{Namespace: obj.GetNamespace(), Name: name}}
		}},
		{Name: "source", Of: &capturev1.ManifestCaptureRequest{}, Find: func(ctx context.Context, cached read.Reader, obj client.Object) []read.Key {
			return named(ctx, cached, &capturev1.ManifestRestoreRequestList{}, wokenBy, "capture/"+obj.GetNamespace()+"/"+obj.GetName())
		}},
	}
}

// followedBy finds the request of a kind that a keeper follows.
func followedBy(kind string) func(context.Context, read.Reader, client.Object) []read.Key {
	return func(_ context.Context, _ read.Reader, obj client.Object) []read.Key {
		ref := obj.(*capturev1.ObjectKeeper).Spec.FollowRef
		if ref == nil || ref.Kind != kind || ref.APIVersion != capturev1.GroupVersion.String() {
			return nil
		}
		return []read.Key{{Namespace: ref.Namespace, Name: ref.Name}}
	}
}

// named lists, by an index, the names of those that wait for something.
func named(ctx context.Context, cached read.Reader, list client.ObjectList, index, by string) (keys []read.Key) {
	if by == "" || cached.List(ctx, list, client.MatchingFields{index: by}) != nil {
		return nil // the cache has ended, and the process with it
	}
	for _, obj := range items(list) {
		keys = append(keys, client.ObjectKeyFromObject(obj))
	}
	return keys
}

func sourceNamespace(own, of string) string { return cmp.Or(of, own) }
