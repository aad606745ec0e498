package capture

import (
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/observe"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// The indexes of the area: of keepers by what they follow, and of requests that have not ended
// by what wakes them.
const (
	followedUID = "followedUID"
	wokenBy     = "wokenBy"
)

// Indexes are those of the area's kinds. Nothing wakes a request that has ended.
func Indexes() []kube.Index {
	return []kube.Index{
		{Of: &capturev1.ObjectKeeper{}, Name: followedUID, Values: followed},
		{Of: &capturev1.ObjectKeeper{}, Name: observe.KeptIndex, Values: keptIn},
		{Of: &capturev1.VolumeCaptureRequest{}, Name: wokenBy, Values: wakesCapture},
		{Of: &capturev1.VolumeRestoreRequest{}, Name: wokenBy, Values: wakesRestore},
		{Of: &capturev1.ManifestRestoreRequest{}, Name: wokenBy, Values: wakesManifestRestore},
	}
}

func followed(obj client.Object) []string {
	if ref := obj.(*capturev1.ObjectKeeper).Spec.FollowRef; ref != nil {
		return []string{string(ref.UID)}
	}
	return nil
}

// keptIn counts a keeper of a request for the namespace of that.
func keptIn(obj client.Object) []string {
	k := obj.(*capturev1.ObjectKeeper)
	if ref := k.Spec.FollowRef; ref != nil && request.Follows(k, ref.UID) && k.Name == request.KeeperName(ref.UID) {
		return []string{observe.KeptIn(ref.NamespaceUID, ref.Kind)}
	}
	return nil
}

func wakesCapture(obj client.Object) []string {
	r := obj.(*capturev1.VolumeCaptureRequest)
	if volumecapture.Ended(r) {
		return nil
	}
	by := []string{"uid/" + string(r.UID), "claim/" + r.Namespace + "/" + r.Spec.Target.Name}
	if r.Status.Detached != nil {
		by = append(by, "volume/"+r.Status.Detached.Name)
	}
	return by
}

func wakesRestore(obj client.Object) []string {
	r := obj.(*capturev1.VolumeRestoreRequest)
	if r.Status.Phase == volumerestore.Succeeded || r.Status.Phase == volumerestore.Failed {
		return nil
	}
	by := []string{"claim/" + r.Namespace + "/" + r.Spec.VolumeClaimTemplate.Name}
	if from := r.Spec.Source.VolumeCaptureRequest; from != nil && r.Status.Source == nil {
		by = append(by, "capture/"+sourceNamespace(r.Namespace, from.Namespace)+"/"+from.Name)
	}
	return by
}

func wakesManifestRestore(obj client.Object) []string {
	r := obj.(*capturev1.ManifestRestoreRequest)
	from := r.Spec.Source.ManifestCaptureRequest
	if from == nil || r.Status.CompletionTimestamp != nil {
		return nil
	}
	return []string{"capture/" + sourceNamespace(r.Namespace, from.Namespace) + "/" + from.Name}
}

// items are the objects of a list.
func items(list client.ObjectList) (all []client.Object) {
	_ = apimeta.EachListItem(list, func(obj runtime.Object) error { // of a typed list it cannot fail
		all = append(all, obj.(client.Object))
		return nil
	})
	return all
}
