// Package request is what all requests of area capture have in common: each has a keeper
// that owns what it makes, and a deadline.
package request

import (
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// Account is the ServiceAccount of a namespace that does there for users what they ask for.
const Account = "statecraft-capture"

// Terms are for how long a keeper outlives its request.
type Terms struct {
	Retain         *metav1.Duration // what the request asks for; nil is not at all
	Floor          time.Duration    // what the operator grants at least: a deletion may be an accident
	NamespaceGrace time.Duration    // what the operator grants when the whole namespace goes
}

// KeeperName is the name of a request's keeper. Whoever knows the UID could take it first;
// so a keeper of that name is ours only if it follows that UID.
func KeeperName(uid types.UID) string { return keepers + string(uid) }

// IsKeeperName says that a keeper of this name is one of a request.
func IsKeeperName(name string) bool { return strings.HasPrefix(name, keepers) }

// keepers is what the names of requests' keepers begin with. Those of other keepers do not: admission
// sees to it.
const keepers = "request-"

// NewKeeper is the keeper of a request, which is in the namespace with that UID.
func NewKeeper(obj metav1.Object, kind schema.GroupVersionKind, namespace types.UID, t Terms) *capturev1.ObjectKeeper {
	k := &capturev1.ObjectKeeper{
		ObjectMeta: metav1.ObjectMeta{Name: KeeperName(obj.GetUID())},
		Spec: capturev1.ObjectKeeperSpec{
			Mode: capturev1.FollowObject,
			FollowRef: &capturev1.FollowRef{
				APIVersion: kind.GroupVersion().String(), Kind: kind.Kind,
				Namespace: obj.GetNamespace(), NamespaceUID: namespace,
				Name: obj.GetName(), UID: obj.GetUID(),
			},
		},
	}
	keep := t.Floor
	if t.Retain != nil {
		keep = max(keep, t.Retain.Duration)
	}
	if keep > 0 {
		k.Spec.Mode, k.Spec.TTL = capturev1.FollowObjectWithTTL, &metav1.Duration{Duration: keep}
	}
	if t.NamespaceGrace > 0 {
		k.Spec.NamespaceGrace = &metav1.Duration{Duration: t.NamespaceGrace}
	}
	return k
}

// Follows says that a keeper is that of the request with this UID.
func Follows(k *capturev1.ObjectKeeper, uid types.UID) bool {
	return uid != "" && k.Spec.Mode != capturev1.TTL && k.Spec.FollowRef != nil && k.Spec.FollowRef.UID == uid
}

// KeptBy makes the keeper of a request the owner of what the request makes. It does not
// block the keeper's deletion: nothing of ours ever waits for another.
func KeptBy(uid types.UID, keeper types.UID) metav1.OwnerReference {
	controller, blocks := true, false
	return metav1.OwnerReference{
		APIVersion: capturev1.GroupVersion.String(), Kind: "ObjectKeeper",
		Name: KeeperName(uid), UID: keeper, Controller: &controller, BlockOwnerDeletion: &blocks,
	}
}

// Keeps says that an owner is the keeper of a request, and not one that somebody made by hand.
func Keeps(owner metav1.OwnerReference) bool {
	return schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind() == keeperKind && strings.HasPrefix(owner.Name, keepers)
}

var keeperKind = schema.GroupKind{Group: capturev1.GroupName, Kind: "ObjectKeeper"}

// Deadline is when a request is given up.
func Deadline(obj metav1.Object, seconds int32) time.Time {
	return obj.GetCreationTimestamp().Add(time.Duration(seconds) * time.Second)
}
