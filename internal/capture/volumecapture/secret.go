package volumecapture

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// The parameters of a VolumeSnapshotClass that name the secret of its driver.
const (
	secretName      = "csi.storage.k8s.io/snapshotter-secret-name"
	secretNamespace = "csi.storage.k8s.io/snapshotter-secret-namespace"
)

var variable = regexp.MustCompile(`\$\{[^}]*\}`)

// SecretOf is the secret that a class names, as the snapshot controller makes it out of the
// class's templates. ok is false if they make no sense.
func SecretOf(parameters map[string]string, uid types.UID, namespace string) (s Secret, ok bool) {
	name, space := parameters[secretName], parameters[secretNamespace]
	if name == "" && space == "" {
		return Secret{}, true
	}
	content := strings.NewReplacer(
		"${volumesnapshotcontent.name}", ContentName(uid), "${volumesnapshot.namespace}", namespace)
	s.Namespace = content.Replace(space)
	s.Name = strings.ReplaceAll(content.Replace(name), "${volumesnapshot.name}", ContentName(uid))
	ok = s.Name != "" && s.Namespace != "" && !variable.MatchString(s.Name+s.Namespace)
	if !ok {
		s = Secret{}
	}
	return s, ok
}
