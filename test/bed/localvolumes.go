package bed

import (
	"context"
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// LocalVolumes makes a storage class with so many volumes on the disk of every node. A pod that has claimed one can
// run on that node only, for ever.
func (b *Bed) LocalVolumes(ctx context.Context, class string, perNode int) error {
	client, err := kubernetes.NewForConfig(b.Config())
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	wait := storagev1.VolumeBindingWaitForFirstConsumer
	_, err = client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: class},
		Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &wait,
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create storage class: %w", err)
	}
	for _, node := range b.Nodes() {
		for i := range perNode {
			volume := node.localVolume(class, fmt.Sprintf("%s-%s-%d", class, node.Name(), i))
			if err := os.MkdirAll(node.disk("mnt", volume.Name), 0o755); err != nil {
				return fmt.Errorf("make directory of volume: %w", err)
			}
			if _, err := client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{}); err != nil {
				return fmt.Errorf("create volume: %w", err)
			}
		}
	}
	return nil
}

func (n *Node) localVolume(class, name string) *corev1.PersistentVolume {
	here := corev1.NodeSelectorRequirement{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{n.Name()}}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName: class, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("100Gi")},
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/mnt/" + name}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{here}}},
			}},
		},
	}
}
