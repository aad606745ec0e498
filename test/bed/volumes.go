package bed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/statecraft-dev/statecraft/test/bed/internal/process"
)

// StorageClass is the default class of a bed with nodes: a directory that all nodes see, made when it is claimed.
const StorageClass = "standard"

// provisionedVolumes is where the controller manager makes volumes; the path is fixed in its source.
const provisionedVolumes = "/tmp/hostpath_pv"

// openEvery is how soon a new volume is opened to pods that are not root.
const openEvery = 50 * time.Millisecond

// prepareVolumes makes the directory that the controller manager and the nodes see at its fixed path, and the
// mount point for it.
func (b *Bed) prepareVolumes() error {
	b.layout.volumes = b.path("volumes")
	for _, dir := range []string{b.layout.volumes, provisionedVolumes} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return fmt.Errorf("make directory of volumes: %w", err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	go openVolumes(ctx, b.layout.volumes)
	b.onStop(func(context.Context) error {
		cancel()
		return nil
	})
	return nil
}

// removeVolumesMountPoint removes it only if empty: anything in it is not ours.
func removeVolumesMountPoint() error {
	err := os.Remove(provisionedVolumes)
	if err == nil || errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("remove mount point of volumes: %w", err)
}

// openVolumes lets everybody write to the volumes: the provisioner makes them for root alone, and kubelet does
// not change the owner of a hostPath.
func openVolumes(ctx context.Context, dir string) {
	ticker := time.NewTicker(openEvery)
	defer ticker.Stop()
	opened := map[string]bool{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // removed by Stop
		}
		for _, entry := range entries {
			if !opened[entry.Name()] && os.Chmod(filepath.Join(dir, entry.Name()), 0o777) == nil {
				opened[entry.Name()] = true
			}
		}
	}
}

// withVolumes makes a command see the bed's volumes at the fixed path.
func (b *Bed) withVolumes(command process.Command) process.Command {
	if b.layout.volumes == "" {
		return command
	}
	command.Args = append([]string{"bind", b.layout.volumes, provisionedVolumes, command.Path}, command.Args...)
	command.Path = b.nodeInit
	command.Cloneflags = syscall.CLONE_NEWNS
	return command
}

func createStorageClass(ctx context.Context, client kubernetes.Interface) error {
	reclaim, binding := corev1.PersistentVolumeReclaimDelete, storagev1.VolumeBindingImmediate
	_, err := client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        StorageClass,
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner: "kubernetes.io/host-path", ReclaimPolicy: &reclaim, VolumeBindingMode: &binding,
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("create storage class: %w", err)
	}
	return nil
}
