package restorer

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// prefix is that of the parameters of a StorageClass that are not for the driver.
const prefix = "csi.storage.k8s.io/"

// The parameters that are read here, as external-provisioner does.
const (
	fsTypeParameter   = prefix + "fstype"
	plainFSType       = "fstype" // deprecated, and still in use
	provisioner       = "provisioner"
	controllerPublish = "controller-publish"
	controllerExpand  = "controller-expand"
	nodeStage         = "node-stage"
	nodePublish       = "node-publish"
	nodeExpand        = "node-expand"
)

var secretKinds = []string{provisioner, controllerPublish, controllerExpand, nodeStage, nodePublish, nodeExpand}

// settings are the parameters of a class, sorted by whom they are for.
type settings struct {
	driver  map[string]string
	fsType  string
	secrets map[string]*corev1.SecretReference
}

// sort takes the parameters apart. One with our prefix that is not known is refused: it
// would ask for something that is not done.
func sort(parameters map[string]string, claim *corev1.PersistentVolumeClaim, volume string) (settings, error) {
	s := settings{driver: map[string]string{}, secrets: map[string]*corev1.SecretReference{}}
	for _, key := range slices.Sorted(maps.Keys(parameters)) {
		switch value := parameters[key]; {
		case key == fsTypeParameter, key == plainFSType:
			s.fsType = value
		case !strings.HasPrefix(key, prefix):
			s.driver[key] = value
		default:
			if err := s.secret(strings.TrimPrefix(key, prefix), value, claim, volume); err != nil {
				return s, fmt.Errorf("read parameter %s: %w", key, err)
			}
		}
	}
	for _, kind := range secretKinds {
		if ref := s.secrets[kind]; ref != nil && (ref.Name == "" || ref.Namespace == "") {
			return s, fmt.Errorf("the %s secret needs a name and a namespace", kind)
		}
	}
	return s, nil
}

// secret notes the name or the namespace of a secret.
func (s settings) secret(key, value string, claim *corev1.PersistentVolumeClaim, volume string) error {
	kind, field, _ := strings.Cut(key, "-secret-")
	if !slices.Contains(secretKinds, kind) || field != "name" && field != "namespace" {
		return fmt.Errorf("it is not known")
	}
	ref := s.secrets[kind]
	if ref == nil {
		ref = &corev1.SecretReference{}
		s.secrets[kind] = ref
	}
	if field == "namespace" {
		filled, err := fill(value, map[string]string{"pv.name": volume, "pvc.namespace": claim.Namespace})
		ref.Namespace = filled
		return err
	}
	known := map[string]string{"pv.name": volume, "pvc.namespace": claim.Namespace, "pvc.name": claim.Name}
	if kind != provisioner { // whoever may write a claim does not choose the secret that makes volumes
		for name, text := range claim.Annotations {
			known["pvc.annotations['"+name+"']"] = text
		}
	}
	filled, err := fill(value, known)
	ref.Name = filled
	return err
}

var token = regexp.MustCompile(`\$\{[^}]*\}`)

// fill replaces ${…} by what is known under that name.
func fill(template string, known map[string]string) (string, error) {
	var unknown error
	filled := token.ReplaceAllStringFunc(template, func(t string) string {
		value, has := known[t[2:len(t)-1]]
		if !has {
			unknown = fmt.Errorf("%s is not known here", t)
		}
		return value
	})
	return filled, unknown
}
