package cluster

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// The template of a shard that was formed changes only where an upgrade asks for it: any
// pod that is lost comes back by it. What the spec asks for is an upgrade, too, which
// the cluster makes for itself.

// Upgrade is the one that has the cluster's reservation, and what it asks for.
type Upgrade struct {
	Name string `json:"name"`
	Asks []Ask  `json:"asks,omitempty"`
}

// Ask is what an upgrade wants of one shard; "" and nil are nothing.
type Ask struct {
	Shard    int    `json:"shard"`
	Template string `json:"template,omitempty"`
	Replicas *int   `json:"replicas,omitempty"`
}

// OwnUpgrade is one that the cluster made to follow its spec.
type OwnUpgrade struct {
	Name    string `json:"name"`
	UID     string `json:"uid"`
	Version string `json:"version,omitempty"`
	Phase   string `json:"phase,omitempty"`
	Ended   bool   `json:"ended,omitempty"`
}

// runningImage is the image of the shards that exist, if the spec asks for another: a new shard
// is to run what the others do, until an upgrade changes them all.
func runningImage(w World, wanted string) string {
	c, found := w.child(func(c Child) bool { return c.Kind == KindStatefulSet && c.UID != "" && !c.Foreign && c.Image != "" })
	if !found || !w.Formed || c.Image == wanted {
		return ""
	}
	return c.Image
}

// applyAsks lists the shards that the upgrade wants otherwise than they are. A template and a
// width are applied together: a pod that is added is to run what is wanted.
func applyAsks(in input) (effects []fsm.Effect) {
	w := in.World
	if w.Upgrade == nil || in.Obj.Spec.Paused {
		return nil
	}
	for _, a := range w.Upgrade.Asks {
		c, found := w.child(func(c Child) bool { return c.Kind == KindStatefulSet && c.Shard == a.Shard })
		if !found || c.UID == "" || c.Foreign || !w.recorded(c) {
			continue
		}
		if e, differs := applyAsk(w, c, a); differs {
			effects = append(effects, e)
		}
	}
	if len(effects) > 0 {
		return effects
	}
	return removeSurgeReplicas(in)
}

// applyAsk makes a shard what is asked for, if it is not. None is made narrower here.
func applyAsk(w World, c Child, a Ask) (e ApplyChild, differs bool) {
	e = ApplyChild{Child: c.Ref, UID: c.UID, Shard: c.Shard, Replicas: w.Shape[c.Shard]}
	if a.Replicas != nil {
		e.Replicas = max(e.Replicas, *a.Replicas)
	}
	if a.Template != "" && a.Template != c.Template {
		e.Template, e.Upgrade = a.Template, w.Upgrade.Name
		return e, true
	}
	e.Keep = true
	return e, e.Replicas > w.Shape[c.Shard]
}

// editedShard is a shard whose pods the spec asks to be otherwise than when its template was
// last written.
func editedShard(w World) (Child, bool) {
	return w.child(func(c Child) bool {
		return c.Kind == KindStatefulSet && w.recorded(c) && c.UID != "" && !c.Foreign && !c.Current && !hasTemplate(c, w.Template)
	})
}

// hasTemplate says that a shard is known to have a template.
func hasTemplate(c Child, template string) bool { return template != "" && c.Template == template }

// shardsToRelabel are shards whose pods are as the spec asks, and that do not bear it yet. What lost its
// label or was edited is made what it was, but for the template.
func shardsToRelabel(w World) []Child {
	return slices.DeleteFunc(w.unapplied(), func(c Child) bool {
		return isClosed(c) || c.Kind == KindStatefulSet && c.UID != "" && !hasTemplate(c, w.Template) && !c.touched()
	})
}

// removeFormerUpgrades removes the upgrades that the spec asked for before: one that has ended would be taken for the answer when
// the same is asked again, and one that is under way brings servers to what the spec no longer asks for. That of this
// spec is removed, too, if a shard stopped before it began: it waits for that shard, and keeps it from being repaired.
func removeFormerUpgrades(in input, name string) (effects []fsm.Effect) {
	for _, u := range in.World.Own {
		if former := u.Name != name && (u.Ended || mayRestart(in)); former || toRepair(in.World) && u.unbegun() {
			effects = append(effects, DeleteUpgrade{u.Name, u.UID, u.Version})
		}
	}
	return effects
}

// unbegun says that an upgrade has changed nothing.
func (u OwnUpgrade) unbegun() bool {
	return u.Phase == "" || u.Phase == upgradeWaits || u.Phase == upgradeChecks
}

// requestUpgrade makes the upgrade that the spec asks for, and removes those that it asked for before.
func requestUpgrade(in input) (effects []fsm.Effect, words string) {
	w := in.World
	if in.Obj.Spec.Paused || !w.Formed {
		return nil, ""
	}
	if r, pending := pendingRestart(in); pending {
		return restartForOperator(in, r), ""
	}
	name := ownName(in)
	effects = removeFormerUpgrades(in, name)
	if _, wanted := editedShard(w); !wanted {
		return effects, ""
	}
	words = fmt.Sprintf("ValkeyUpgrade %s brings the servers to the edited spec.", name)
	if i := slices.IndexFunc(w.Own, func(u OwnUpgrade) bool { return u.Name == name }); i >= 0 {
		if u := w.Own[i]; u.Ended {
			words = fmt.Sprintf("ValkeyUpgrade %s, which the spec asked for, ended in phase %s: read its message and edit the spec, or delete it to try again.", name, u.Phase)
		}
		return effects, words
	}
	if !mayRestart(in) || toRepair(w) {
		return effects, ""
	}
	image, known := wantedImage(in)
	if !known {
		return effects, "The spec was edited, but not applied. " + differentImages
	}
	return append(effects, MakeUpgrade{name, image}), words
}

// wantedImage is that of the upgrade that the spec asks for. Where an upgrade by somebody else
// brought all shards to another image than the spec names, and that was not edited since, they
// keep it: an edit of something else is no wish to go back. False is that shards differ.
func wantedImage(in input) (image string, known bool) {
	for _, c := range statefulSets(in.World) {
		if c.SpecImage != in.Obj.Spec.Image {
			return in.Obj.Spec.Image, true
		}
		if image != "" && c.Image != image {
			return "", false
		}
		image = c.Image
	}
	return image, image != ""
}

// drift says that shards run another image than the spec names, which is no edit of it.
func drift(in input) string {
	image, known := wantedImage(in)
	if !known || image == in.Obj.Spec.Image || in.World.Upgrade != nil {
		return ""
	}
	return fmt.Sprintf(" A ValkeyUpgrade brought the servers to %s, but spec.image is still %s: set it to what runs.", image, in.Obj.Spec.Image)
}

// contested says that another controller sets fields of a child, which nothing waits for.
func contested(w World) string {
	c, is := w.child(func(c Child) bool { return c.Contested != "" })
	if !is {
		return ""
	}
	return fmt.Sprintf(" Others own fields of %s: %s; remove the fields there.", c.Ref, c.Contested)
}

// statefulSets are the StatefulSets of the cluster as it is.
func statefulSets(w World) []Child {
	return slices.DeleteFunc(slices.Clone(w.Children), func(c Child) bool {
		return c.Kind != KindStatefulSet || !w.recorded(c) || c.UID == "" || c.Foreign
	})
}

// mayRestart says that it is time to restart servers: of a combined edit, after what adds.
func mayRestart(in input) bool { return !grows(in) && approved(in) }

// ownName is that of the upgrade that the spec asks for.
func ownName(in input) string {
	template := in.World.Template
	return in.Obj.Name + "-" + template[:min(len(template), nameLength)]
}

// nameLength is how much of a template's name tells upgrades of a cluster apart.
const nameLength = 8

// upgrading says that an upgrade has the cluster, or that the spec asks for one that
// has not failed: of a combined edit, restarts come before anything is removed.
func upgrading(in input) bool {
	if in.World.Upgrade != nil {
		return true
	}
	if _, wanted := editedShard(in.World); !wanted {
		return false
	}
	if r, pending := pendingRestart(in); pending { // nobody asked for it: it keeps nothing that the user wants waiting
		return r.reason == ReasonRestarting
	}
	name := ownName(in)
	return !slices.ContainsFunc(in.World.Own, func(u OwnUpgrade) bool { return u.Name == name && u.Ended })
}

// whyAbandoned says that shards run different images, and nobody is about to change that. Templates
// may have other names, and the same in them: a shard that is added was never restarted, and one
// that was rolled back has a name of its own.
func whyAbandoned(w World) string {
	if w.Upgrade != nil {
		return ""
	}
	first := ""
	for _, c := range statefulSets(w) {
		if c.Image == "" {
			continue
		}
		if first = cmp.Or(first, c.Image); c.Image != first {
			return differentImages
		}
	}
	return ""
}

const differentImages = "Shards run different images, left by a ValkeyUpgrade that is gone: create one with the image that all should run."
