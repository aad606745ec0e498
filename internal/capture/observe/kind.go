package observe

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/keeper"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// builtIn are the groups that the API server itself serves. They have no CRD that
// could be removed. The list is closed on purpose: a group that merely has no CRD
// may have lost it a moment ago, together with every object in it.
var builtIn = map[string]bool{
	"": true, "admissionregistration.k8s.io": true, "apiextensions.k8s.io": true, "apps": true,
	"autoscaling": true, "batch": true, "certificates.k8s.io": true, "coordination.k8s.io": true,
	"discovery.k8s.io": true, "flowcontrol.apiserver.k8s.io": true, "networking.k8s.io": true,
	"node.k8s.io": true, "policy": true, "rbac.authorization.k8s.io": true, "resource.k8s.io": true,
	"scheduling.k8s.io": true, "storage.k8s.io": true,
}

// kindRemoved says why the absence of an object proves nothing: removing a CRD
// deletes its objects first. The kind must be established, not on its way out,
// and older than the keeper, or the objects went with an earlier definition.
func (o Keeper) kindRemoved(ctx context.Context, k *capturev1.ObjectKeeper, gvk schema.GroupVersionKind) (presence.Blindness, error) {
	if builtIn[gvk.Group] {
		return "", nil
	}
	mapping, err := o.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if apimeta.IsNoMatchError(err) {
		return presence.Unserved, nil
	} else if err != nil {
		return "", fmt.Errorf("map kind %s: %w", gvk.Kind, err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	name := mapping.Resource.Resource + "." + gvk.Group
	switch err := o.Live.Get(ctx, read.Key{Name: name}, &crd); {
	case read.SaysGone(err, name):
		return keeper.KindRemoved, nil
	case err != nil:
		return "", fmt.Errorf("read definition of %s: %w", gvk.Kind, err)
	case crd.DeletionTimestamp != nil, !established(&crd), !crd.CreationTimestamp.Before(&k.CreationTimestamp):
		return keeper.KindRemoved, nil
	}
	return "", nil
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	for _, c := range crd.Status.Conditions {
		if c.Type == apiextensionsv1.Established {
			return c.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}
