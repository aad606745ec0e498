package restorer

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
)

// What the cluster's own controllers look for.
const (
	provisionedBy           = "pv.kubernetes.io/provisioned-by"
	deletionSecretName      = "volume.kubernetes.io/provisioner-deletion-secret-name"
	deletionSecretNamespace = "volume.kubernetes.io/provisioner-deletion-secret-namespace"
	// SelectedNode is where the scheduler wants the pod that uses a claim.
	SelectedNode = "volume.kubernetes.io/selected-node"
)

// IsOurs says that a claim was made for this very request.
func IsOurs(claim *corev1.PersistentVolumeClaim, r metav1.Object) bool {
	from := claim.Spec.DataSourceRef
	return from != nil && from.APIGroup != nil && *from.APIGroup == capturev1.GroupName && from.Kind == "VolumeRestoreRequest" &&
		from.Name == r.GetName() && r.GetUID() != "" && claim.Annotations[capturev1.RestoreAnnotation] == string(r.GetUID())
}

// NewClaim is the claim of a request. Nothing owns it, but for a rehearsal: what is restored
// is the user's.
func NewClaim(r *capturev1.VolumeRestoreRequest, e CreateClaim) *corev1.PersistentVolumeClaim {
	t, group := r.Spec.VolumeClaimTemplate, capturev1.GroupName
	annotations := map[string]string{}
	maps.Copy(annotations, t.Annotations)
	annotations[capturev1.RestoreAnnotation] = string(r.UID)
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: t.Name, Labels: t.Labels, Annotations: annotations},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: t.Spec.AccessModes, Resources: t.Spec.Resources, VolumeMode: t.Spec.VolumeMode,
			StorageClassName: t.Spec.StorageClassName, VolumeName: e.Volume,
			DataSourceRef: &corev1.TypedObjectReference{APIGroup: &group, Kind: "VolumeRestoreRequest", Name: r.Name},
		},
	}
	if e.Class != "" {
		c.Spec.StorageClassName = &e.Class
	}
	if e.Keeper != "" {
		c.OwnerReferences = []metav1.OwnerReference{request.KeptBy(r.UID, e.Keeper)}
	}
	return c
}

// NewPV is the PersistentVolume of a volume, for the claim that it was intended for.
func NewPV(i Intent, v Volume) *corev1.PersistentVolume {
	p, s := i.Plan, i.Shape
	mode := corev1.PersistentVolumeFilesystem
	if p.Block {
		mode = corev1.PersistentVolumeBlock
	}
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: p.Name, Annotations: map[string]string{
			provisionedBy: p.Driver, capturev1.RestoreAnnotation: string(i.Request.UID),
		}},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: p.AccessModes, VolumeMode: &mode, StorageClassName: s.ClassName, MountOptions: p.MountFlags,
			PersistentVolumeReclaimPolicy: s.ReclaimPolicy, NodeAffinity: affinity(v.Topology),
			Capacity: corev1.ResourceList{corev1.ResourceStorage: *resource.NewQuantity(max(v.Capacity, p.Bytes), resource.BinarySI)},
			ClaimRef: ClaimRef(i.Claim),
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: p.Driver, VolumeHandle: v.ID, VolumeAttributes: v.Context, FSType: p.FSType,
				ControllerPublishSecretRef: s.ControllerPublish, ControllerExpandSecretRef: s.ControllerExpand,
				NodeStageSecretRef: s.NodeStage, NodePublishSecretRef: s.NodePublish, NodeExpandSecretRef: s.NodeExpand,
			}},
		},
	}
	if p.Secret != nil { // who deletes the volume needs it, too
		pv.Annotations[deletionSecretName], pv.Annotations[deletionSecretNamespace] = p.Secret.Name, p.Secret.Namespace
	}
	return pv
}

// ClaimRef makes a claim the only one that a PersistentVolume can be bound to. Without the
// UID whoever makes a claim of that name gets the data.
func ClaimRef(claim Ref) *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
}

// affinity says on which nodes the volume can be used: those of any of its places.
func affinity(places []map[string]string) *corev1.VolumeNodeAffinity {
	var terms []corev1.NodeSelectorTerm
	for _, place := range places {
		var term corev1.NodeSelectorTerm
		for _, key := range slices.Sorted(maps.Keys(place)) {
			term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{
				Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{place[key]},
			})
		}
		if len(term.MatchExpressions) > 0 {
			terms = append(terms, term)
		}
	}
	if len(terms) == 0 {
		return nil
	}
	return &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: terms}}
}
