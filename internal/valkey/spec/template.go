package spec

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
)

// What pods bear.
const (
	// restartAnnotation on pods makes a new revision out of nothing but the wish for one.
	restartAnnotation = "valkey.statecraft.dev/restarted-by"
	// configAnnotation on pods is the configuration that they start with.
	configAnnotation = "valkey.statecraft.dev/config"
)

// Variant is how an upgrade's template differs from that of the spec; the zero value
// does not.
type Variant struct {
	Image   string // "" is that of the spec
	Restart string // UID of an upgrade that changes nothing else
}

// VariantOf is what an upgrade asks for. One without an image restarts what runs.
func VariantOf(c *valkeyv1.ValkeyCluster, image, uid string) Variant {
	if image != "" {
		return Variant{Image: image}
	}
	return Variant{Image: c.Status.Image, Restart: uid}
}

// TemplateName names a template of pods by what is in it.
func (b Builder) TemplateName(c *valkeyv1.ValkeyCluster, v Variant) string {
	template := b.variant(c, 0, v)
	for i := range template.Spec.InitContainers {
		template.Spec.InitContainers[i].Image = ""
	}
	return child.Hash(template)
}

// variant is the template of the pods of one shard.
func (b Builder) variant(c *valkeyv1.ValkeyCluster, shard int, v Variant) corev1.PodTemplateSpec {
	if v.Image != "" && v.Image != c.Spec.Image {
		c = c.DeepCopy()
		c.Spec.Image = v.Image
	}
	template := b.template(c, shard)
	if v.Restart != "" {
		template.Annotations[restartAnnotation] = v.Restart
	}
	return template
}

// RevisionOf is the revision that a template is named after, if it is.
func RevisionOf(template string) (revision string, is bool) {
	return strings.CutPrefix(template, valkeyv1.RevisionPrefix)
}
