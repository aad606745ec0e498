package action

import (
	"fmt"
	"strings"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

func updateImage() Builtin {
	return Builtin{
		Name: "update_image", Kinds: []remediationv1.TargetKind{deployments, statefulSets, daemonSets}, Inverse: "update_image", write: PatchTarget,
		Parameters: []remediationv1.Parameter{{
			Name: "container", Description: "The container, or init container, whose image is replaced.", Type: remediationv1.TypeString,
			Required: true, MaxLength: new(int32(63)), Pattern: `[a-z0-9]([-a-z0-9]*[a-z0-9])?`,
		}, {
			Name: "image", Description: "The new image.", Type: remediationv1.TypeString,
			Required: true, MaxLength: new(int32(512)), Pattern: `[a-zA-Z0-9][-a-zA-Z0-9._/:@]*`,
		}},
		fields: func(Params) []Path { return []Path{template} },
		plan:   planImage,
	}
}

func planImage(s subject) (effect, error) {
	if err := s.rolls(); err != nil {
		return effect{}, err
	}
	name, image := s.text("container"), s.text("image")
	list, at, found := s.container(name)
	if !found {
		return effect{}, refuse("%s has no container %s.", s, name)
	}
	path := append(append(Path{}, template...), "spec", list)
	all, _ := path.of(s.object)
	// A merge patch replaces a list as a whole, so the patch has all containers as they were read. It
	// is applied to that very resourceVersion, so it undoes no change. A strategic merge patch
	// would be shorter, but only the API server knows how to apply one: plan, diff, inverse and
	// test could not share it.
	containers, _ := clone(all).([]any)
	c, _ := containers[at].(map[string]any)
	was := c["image"]
	if was == image {
		return effect{}, refuse("Container %s of %s already has the image %s: there is nothing to do.", name, s, image)
	}
	c["image"] = image
	e := effect{
		patch:   nest(containers, path...),
		fields:  []remediationv1.Change{field(Path{"spec", "template", "spec", list + "[" + name + "]", "image"}, was, image)},
		summary: fmt.Sprintf("Set the image of container %s of %s to %s.", name, s, image),
	}
	if old, _ := was.(string); old != "" {
		e.undo = Params{"container": name, "image": old}
	} else {
		e.caveat = fmt.Sprintf("It cannot be taken back: container %s has no image.", name)
	}
	return e, nil
}

// container finds a container by its name, which is that of one container or init container only.
func (s subject) container(name string) (list string, at int, found bool) {
	for _, list := range strings.Fields("containers initContainers") {
		all, _ := Path{"spec", "template", "spec", list}.of(s.object)
		containers, _ := all.([]any)
		for i := range containers {
			if c, _ := containers[i].(map[string]any); c["name"] == name {
				return list, i, true
			}
		}
	}
	return "", 0, false
}
