package act

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/reserve"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
)

// shard builds the StatefulSet that is to be applied. The size in the claims of one that exists cannot be changed: larger
// volumes are asked for claim by claim.
func (a Cluster) shard(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.ApplyChild) (*appsv1.StatefulSet, error) {
	is, err := a.live(ctx, c, e)
	if err != nil {
		return nil, err
	}
	s, err := a.wanted(ctx, c, e, is)
	if err == nil && is != nil {
		spec.KeepVolumeSize(s, is)
	}
	return s, err
}

func (a Cluster) wanted(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.ApplyChild, is *appsv1.StatefulSet) (*appsv1.StatefulSet, error) {
	switch {
	case e.Template != "":
		return a.asAsked(ctx, c, e, is)
	case e.Keep:
		return a.asItIs(c, e, is), nil
	case e.Image != "":
		return a.Build.Upgraded(c, e.Shard, spec.Variant{Image: e.Image}), nil
	}
	return a.Build.StatefulSet(c, e.Shard), nil
}

// live is the StatefulSet as the API server itself has it, if there was one. A proof is of
// pods that were seen: without one, what is wider by now than it seemed is not made narrower.
func (a Cluster) live(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.ApplyChild) (is *appsv1.StatefulSet, err error) {
	if e.UID == "" {
		return nil, nil
	}
	is = &appsv1.StatefulSet{}
	if err := a.Live.Get(ctx, read.Key{Namespace: c.Namespace, Name: e.Child.Name}, is); err != nil {
		return nil, kube.Classify(fmt.Errorf("read %s: %w", e.Child, err))
	}
	if replicas := ptr.Deref(is.Spec.Replicas, 1); e.Proof == nil && int(replicas) > 1+e.Replicas {
		return nil, &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("apply %s: it has %d pods by now, and nothing proves that one may go", e.Child, replicas)}
	}
	return is, nil
}

// marks are what a StatefulSet bears of its template.
var marks = []string{spec.AppliedAnnotation, spec.AppliedBeforeAnnotation, spec.ImageAnnotation, spec.ImageBeforeAnnotation,
	valkeyv1.TemplateAnnotation, valkeyv1.UpgradeAnnotation}

// stamps are those of the spec, each with what it was before an upgrade came.
var stamps = map[string]string{
	spec.AppliedAnnotation: spec.AppliedBeforeAnnotation,
	spec.ImageAnnotation:   spec.ImageBeforeAnnotation,
}

// asItIs leaves the pods of a shard as they are when only its width changes.
func (a Cluster) asItIs(c *valkeyv1.ValkeyCluster, e cluster.ApplyChild, is *appsv1.StatefulSet) *appsv1.StatefulSet {
	s := a.Build.StatefulSet(c, e.Shard)
	if is == nil {
		return s
	}
	s.Spec.Template = is.Spec.Template
	for _, mark := range marks {
		delete(s.Annotations, mark)
		if value := is.Annotations[mark]; value != "" {
			s.Annotations[mark] = value
		}
	}
	return s
}

// asAsked gives a shard the template that an upgrade asks for, if that still can be had:
// the spec may have been edited since.
func (a Cluster) asAsked(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.ApplyChild, is *appsv1.StatefulSet) (*appsv1.StatefulSet, error) {
	var u valkeyv1.ValkeyUpgrade
	if err := a.Live.Get(ctx, read.Key{Namespace: c.Namespace, Name: e.Upgrade}, &u); err != nil {
		return nil, fmt.Errorf("read upgrade %s: %w", e.Upgrade, err)
	}
	v := spec.VariantOf(c, u.Spec.Image, string(u.UID))
	s := a.Build.Upgraded(c, e.Shard, v)
	if revision, back := spec.RevisionOf(e.Template); back {
		template, err := a.revision(ctx, c, revision)
		if err != nil {
			return nil, err
		}
		s.Spec.Template, s.Annotations[valkeyv1.TemplateAnnotation] = *template, e.Template
		for stamp := range stamps {
			s.Annotations[stamp] = before(is, &u, stamp)
		}
	} else if a.Build.TemplateName(c, v) != e.Template {
		return nil, &fsm.Error{Class: fsm.Changed, Err: fmt.Errorf("apply %s: the spec was edited since upgrade %s asked", e.Child, e.Upgrade)}
	}
	for stamp, was := range stamps {
		s.Annotations[was] = before(is, &u, stamp)
	}
	s.Annotations[valkeyv1.UpgradeAnnotation] = mark(&u)
	return s, nil
}

// mark names an upgrade on what it has touched.
func mark(u *valkeyv1.ValkeyUpgrade) string {
	return u.CreationTimestamp.UTC().Format(time.RFC3339) + " " + string(u.UID)
}

// before is a stamp of the spec that a shard bore before an upgrade came to it.
func before(is *appsv1.StatefulSet, u *valkeyv1.ValkeyUpgrade, stamp string) string {
	switch {
	case is == nil:
		return unstamped
	case is.Annotations[valkeyv1.UpgradeAnnotation] != mark(u):
		return cmp.Or(is.Annotations[stamp], unstamped)
	}
	return cmp.Or(is.Annotations[stamps[stamp]], unstamped)
}

// unstamped is the stamp of a shard that is not known to be what a spec once asked for.
const unstamped = "none"

// revision is the template of pods that a StatefulSet had before.
func (a Cluster) revision(ctx context.Context, c *valkeyv1.ValkeyCluster, name string) (*corev1.PodTemplateSpec, error) {
	var revision appsv1.ControllerRevision
	if err := a.Live.Get(ctx, read.Key{Namespace: c.Namespace, Name: name}, &revision); err != nil {
		return nil, fmt.Errorf("read revision %s: %w", name, err)
	}
	var kept struct {
		Spec struct {
			Template corev1.PodTemplateSpec `json:"template"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(revision.Data.Raw, &kept); err != nil {
		return nil, fmt.Errorf("read template of revision %s: %w", name, err)
	}
	if len(kept.Spec.Template.Spec.Containers) == 0 {
		return nil, fmt.Errorf("read template of revision %s: it has no container", name)
	}
	return &kept.Spec.Template, nil
}

// makeUpgrade asks for an upgrade on behalf of the cluster's spec.
func (a Cluster) makeUpgrade(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.MakeUpgrade) error {
	u := &valkeyv1.ValkeyUpgrade{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: c.Namespace, Name: e.Name, Labels: spec.Labels(c),
			OwnerReferences: spec.Owner(c),
		},
		Spec: valkeyv1.ValkeyUpgradeSpec{ClusterRef: valkeyv1.ClusterRef{Name: c.Name}, Image: e.Image},
	}
	return a.Children.Apply(ctx, u, "")
}

// beginRestart: if it were wrong, more clusters would be restarted at a time than may be, so the place is taken by a live
// read first, also by who seems to hold it. That another was faster is no failure: the next look shows who it was.
func (a Cluster) beginRestart(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.BeginRestart) error {
	who := reserve.RefOf(schema.GroupKind{Group: valkeyv1.GroupVersion.Group, Kind: "ValkeyCluster"}, c)
	switch err := a.Places.Take(ctx, cluster.PlaceRef(e.Place), who); {
	case err != nil && fsm.ClassOf(err) == fsm.Changed:
		return nil
	case err != nil:
		return fmt.Errorf("take place %d of restarts: %w", e.Place, err)
	}
	return a.makeUpgrade(ctx, c, e.MakeUpgrade)
}

// deleteUpgrade: if it were wrong, an upgrade would be left in the middle; so only this
// very one in this very version goes, which was seen at its end.
func (a Cluster) deleteUpgrade(ctx context.Context, c *valkeyv1.ValkeyCluster, e cluster.DeleteUpgrade) error {
	u := &valkeyv1.ValkeyUpgrade{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: e.Name}}
	return a.Children.Delete(ctx, u, kube.Seen{UID: types.UID(e.UID), ResourceVersion: e.Version})
}
