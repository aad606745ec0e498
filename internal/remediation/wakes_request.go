package remediation

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
)

var requestKind = remediationv1.GroupVersion.WithKind("RemediationRequest")

// byReserved is the index by which requests are found that want an object, by its UID.
const byReserved = "reserved"

// RequestWakes are those of RemediationRequests.
func RequestWakes() []kube.Wake {
	return []kube.Wake{
		kube.Child(&remediationv1.KubernetesExecution{}, requestKind),
		kube.Reserved(wanting),
	}
}

// wanting are the requests on a target.
func wanting(ctx context.Context, cached read.Reader, target reserve.Ref) (keys []read.Key) {
	var list remediationv1.RemediationRequestList
	if err := cached.List(ctx, &list, read.Fields{byReserved: string(target.UID)}); err != nil {
		return nil // a request that waits looks by itself, too
	}
	for _, rr := range list.Items {
		keys = append(keys, read.Key{Namespace: rr.Namespace, Name: rr.Name})
	}
	return keys
}

// reservedIndex finds requests by the targets that they have saved.
func reservedIndex() kube.Index {
	return kube.Index{Of: &remediationv1.RemediationRequest{}, Name: byReserved, Values: func(obj client.Object) (uids []string) {
		rr, is := obj.(*remediationv1.RemediationRequest)
		if !is {
			return nil
		}
		for _, t := range rr.Status.Targets {
			uids = append(uids, string(t.UID))
		}
		return uids
	}}
}
