package bed

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

// Classes of the driver. None is the default storage class; the snapshot class is the default one.
const (
	// CSIClass binds a claim at once and deletes the volume with it.
	CSIClass = "csi"
	// CSIWaitClass binds a claim when a pod uses it.
	CSIWaitClass = "csi-wait"
	// CSIRetainClass binds a claim at once and leaves the volume when it goes.
	CSIRetainClass = "csi-retain"
	// CSISnapshotClass deletes a snapshot with its content.
	CSISnapshotClass = "csi"
)

func (c *CSIDriver) createObjects(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(c.bed.Config())
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	attach, fsGroup := false, storagev1.FileFSGroupPolicy
	_, err = client.StorageV1().CSIDrivers().Create(ctx, &storagev1.CSIDriver{
		ObjectMeta: metav1.ObjectMeta{Name: DriverName},
		Spec: storagev1.CSIDriverSpec{
			AttachRequired: &attach, FSGroupPolicy: &fsGroup,
			VolumeLifecycleModes: []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create CSI driver: %w", err)
	}
	for _, class := range csiClasses() {
		class.AllowedTopologies = c.topologies()
		if _, err := client.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create storage class: %w", err)
		}
	}
	return c.createSnapshotClass(ctx)
}

func csiClasses() []*storagev1.StorageClass {
	class := func(name string, reclaim corev1.PersistentVolumeReclaimPolicy, bind storagev1.VolumeBindingMode) *storagev1.StorageClass {
		return &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: DriverName, ReclaimPolicy: &reclaim, VolumeBindingMode: &bind,
		}
	}
	return []*storagev1.StorageClass{
		class(CSIClass, corev1.PersistentVolumeReclaimDelete, storagev1.VolumeBindingImmediate),
		class(CSIWaitClass, corev1.PersistentVolumeReclaimDelete, storagev1.VolumeBindingWaitForFirstConsumer),
		class(CSIRetainClass, corev1.PersistentVolumeReclaimRetain, storagev1.VolumeBindingImmediate),
	}
}

// topologies keep the scheduler from choosing a node that has no driver.
func (c *CSIDriver) topologies() []corev1.TopologySelectorTerm {
	if len(c.bed.nodes) == 0 {
		return nil
	}
	return []corev1.TopologySelectorTerm{{MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
		{Key: "topology.hostpath.csi/node", Values: []string{c.bed.Node(1).Name()}},
	}}}
}

func (c *CSIDriver) createSnapshotClass(ctx context.Context) error {
	client, err := dynamic.NewForConfig(c.bed.Config())
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	classes := schema.GroupVersionResource{
		Group: "snapshot.storage.k8s.io", Version: "v1", Resource: "volumesnapshotclasses",
	}
	_, err = client.Resource(classes).Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": classes.GroupVersion().String(), "kind": "VolumeSnapshotClass",
		"metadata": map[string]any{
			"name":        CSISnapshotClass,
			"annotations": map[string]any{"snapshot.storage.kubernetes.io/is-default-class": "true"},
		},
		"driver": DriverName, "deletionPolicy": "Delete",
	}}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create snapshot class: %w", err)
	}
	return nil
}
