package spec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// otherVolumes are refused by their kind. One that Kubernetes adds is not among them, and is refused as not known.
var otherVolumes = []string{
	"awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "csi", "downwardAPI", "ephemeral", "fc", "flexVolume", "flocker",
	"gcePersistentDisk", "gitRepo", "glusterfs", "image", "iscsi", "nfs", "photonPersistentDisk", "portworxVolume", "quobyte", "rbd", "scaleIO",
	"storageos", "vsphereVolume",
}

func refusedVolumes() (rows []Row) {
	for _, kind := range otherVolumes {
		rows = append(rows, refused("volumes[]."+kind, "volumes of this kind do not reach devices"))
	}
	return rows
}

// volumeRows are about volumes and their mounts.
var volumeRows = []Row{
	honoured("volumes[].name", "the folder of its files, or nothing"),
	refused("volumes[].configMap.defaultUser", noFileUser),
	refused("volumes[].configMap.items[].user", noFileUser),
	refused("volumes[].configMap.items[].path", "Flight Control takes no path with a colon").in("with a colon", colon),
	honoured("volumes[].configMap", "files of the device, as they are when the pod is sent, mounted read-only"),
	refused("volumes[].emptyDir", "what is written on a disk would stay on the device: use medium Memory with a sizeLimit").in("on a disk", onDisk),
	refused("volumes[].emptyDir", "memory without a sizeLimit could take all of the device").in("without sizeLimit", unlimited),
	refused("volumes[].emptyDir", "memory that is mounted twice would be two").in("mounted twice", mountedTwice),
	refused("volumes[].emptyDir.mode", "folders of memory are writable for everybody in the container"),
	honoured("volumes[].emptyDir", "tmpfs"),
	leftOut("volumes[].projected", "the token of the service account is not delivered: the pod cannot reach the API server").in("the service account's token", isToken),
	refused("volumes[].projected", "projected volumes do not reach devices"),
	refused("volumes[].secret", "only variables get values of Secrets"),
	refused("volumes[].persistentVolumeClaim", "no storage of the cluster reaches a device"),
	refused("volumes[].hostPath", "pods do not get paths of devices"),

	leftOut("containers[].volumeMounts[]", "the token of the service account is not delivered").in("of the service account's token", mountsToken).silent(),
	refused("containers[].volumeMounts[].subPath", "memory is mounted as a whole").in("of an emptyDir", mountsMemory),
	honoured("containers[].volumeMounts[].subPath", "one file or folder of the ConfigMap"),
	refused("containers[].volumeMounts[].subPathExpr", "use subPath"),
	refused("containers[].volumeMounts[].mountPath", "compose takes no path with a colon").in("with a colon", colon),
	honoured("containers[].volumeMounts[].mountPropagation", "the default").in("None", value(string(corev1.MountPropagationNone))),
	refused("containers[].volumeMounts[].mountPropagation", "nothing is mounted later"),
	honoured("containers[].volumeMounts[].recursiveReadOnly", "the default").in("Disabled", value(string(corev1.RecursiveReadOnlyDisabled))),
	refused("containers[].volumeMounts[].recursiveReadOnly", "mounts are read-only as a whole"),
	refused("containers[].volumeMounts[].bindMountOptions[]", "compose has its own options, and no other"),
	refused("containers[].volumeMounts[].readOnly", "memory that nothing can be written to is of no use").in("of an emptyDir", mountsMemory),
	honoured("containers[].volumeMounts[].readOnly", "files of ConfigMaps are read-only anyway"),
	honoured("containers[].volumeMounts[].name", "volumes, tmpfs"),
	honoured("containers[].volumeMounts[].mountPath", "volumes, tmpfs"),
}

const noFileUser = "files of ConfigMaps belong to root"

func (s subject) volume(l leaf) corev1.Volume { return s.pod.Spec.Volumes[l.index[0]] }

// mounted is the volume of a mount; the API server refuses a mount without one.
func (s subject) mounted(l leaf) (v corev1.Volume) {
	name := s.container().VolumeMounts[l.index[1]].Name
	for _, v := range s.pod.Spec.Volumes {
		if v.Name == name {
			return v
		}
	}
	return v
}

func colon(_ subject, l leaf) bool { return strings.Contains(l.text(), ":") }

func onDisk(s subject, l leaf) bool { return s.volume(l).EmptyDir.Medium != corev1.StorageMediumMemory }

func unlimited(s subject, l leaf) bool {
	limit := s.volume(l).EmptyDir.SizeLimit
	return limit == nil || limit.Value() <= 0
}

func mountedTwice(s subject, l leaf) bool { return len(s.mountsOf(s.volume(l).Name)) > 1 }

func mountsMemory(s subject, l leaf) bool { return s.mounted(l).EmptyDir != nil }

// The name and the sources of the volume that the API server adds to pods. A user could give the name to a volume
// with other sources, which would then be left out instead of refused.
const (
	tokenPrefix = "kube-api-access-"
	rootCA      = "kube-root-ca.crt"
)

// isTokenVolume says that the API server added the volume, for the token of the pod's service account.
func isTokenVolume(v corev1.Volume) bool {
	if v.Projected == nil || !strings.HasPrefix(v.Name, tokenPrefix) {
		return false
	}
	for _, s := range v.Projected.Sources {
		token := s.ServiceAccountToken != nil && s.ServiceAccountToken.Audience == ""
		root := s.ConfigMap != nil && s.ConfigMap.Name == rootCA
		namespace := s.DownwardAPI != nil && len(s.DownwardAPI.Items) == 1 && s.DownwardAPI.Items[0].Path == "namespace"
		if !token && !root && !namespace {
			return false
		}
	}
	return len(v.Projected.Sources) > 0
}

func isToken(s subject, l leaf) bool { return isTokenVolume(s.volume(l)) }

func mountsToken(s subject, l leaf) bool { return isTokenVolume(s.mounted(l)) }
