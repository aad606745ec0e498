package capture

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	"github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

type fields = map[string]any

// captured are the objects of the checkpoint: one owns another.
func (s *restoreStory) captured() []fields {
	config := func(name string, more fields) fields {
		metadata := fields{"name": name, "namespace": "old"}
		for key, value := range more {
			metadata[key] = value
		}
		return fields{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": fields{"theme": "dark"}}
	}
	verb := "get"
	if s.grabs {
		verb = "*"
	}
	objects := []fields{
		config("a-child", fields{"ownerReferences": []any{fields{"apiVersion": "v1", "kind": "ConfigMap", "name": "settings", "uid": "old"}}}),
		config("settings", nil), config("same", nil),
		{"apiVersion": "v1", "kind": "Secret", "metadata": fields{"name": "password"}, "data": fields{"password": "c2VjcmV0"}},
		{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": fields{"name": "reader"}, "rules": []any{
			fields{"apiGroups": []any{""}, "resources": []any{"configmaps"}, "verbs": []any{verb}},
		}},
	}
	if s.volume {
		objects = append(objects, fields{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": fields{"name": "data"}, "spec": fields{
			"accessModes": []any{"ReadWriteOnce"}, "resources": fields{"requests": fields{"storage": "1Gi"}},
		}}, fields{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": fields{"name": "web"}, "spec": fields{
			"selector": fields{"matchLabels": fields{"app": "web"}}, "serviceName": "web", "replicas": 0,
			"template": fields{"metadata": fields{"labels": fields{"app": "web"}}, "spec": fields{"containers": []any{fields{"name": "web", "image": "web"}}}},
		}})
	}
	return objects
}

// prepare gives the account of the namespace its rights, and writes a checkpoint.
func (s *restoreStory) prepare(ctx context.Context) error {
	ns := &corev1.Namespace{}
	if err := s.world.Client.Get(ctx, client.ObjectKey{Name: s.world.Namespace}, ns); err != nil {
		return err
	}
	s.namespace = ns.UID
	verbs := []string{"get", "create", "patch"}
	made := []client.Object{
		&rbacv1.Role{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: act.Account},
			Rules: []rbacv1.PolicyRule{
				{APIGroups: []string{""}, Resources: []string{"configmaps", "secrets", "persistentvolumeclaims"}, Verbs: verbs},
				{APIGroups: []string{"rbac.authorization.k8s.io"}, Resources: []string{"roles"}, Verbs: verbs},
				{APIGroups: []string{"apps"}, Resources: []string{"statefulsets"}, Verbs: verbs},
			},
		},
		&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: act.Account},
			RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: act.Account},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: s.world.Namespace, Name: act.Account}},
		},
	}
	if s.taken {
		settings, same := configMap(s.world, "settings"), configMap(s.world, "same")
		settings.Data, same.Data = map[string]string{"theme": "light", "theirs": "stays"}, map[string]string{"theme": "dark"}
		made = append(made, settings, same)
	}
	for _, obj := range made {
		if err := s.world.Client.Create(ctx, obj); err != nil {
			return err
		}
		if obj.GetName() == "settings" {
			s.theirs = obj.GetUID()
		}
	}
	return s.write(ctx)
}

// write writes the checkpoint as a capture would.
func (s *restoreStory) write(ctx context.Context) error {
	uid := uuid.NewUUID()
	spec := capturev1.ManifestCheckpointSpec{
		Origin:          capturev1.Origin{Namespace: s.world.Namespace, NamespaceUID: s.namespace, RequestUID: uid},
		ResourceVersion: "1",
	}
	if s.volume {
		nightly, err := s.nightly(ctx)
		if err != nil {
			return err
		}
		spec.Volumes = []capturev1.ManifestVolume{{Claim: "data", VolumeCaptureRequest: nightly.Name, UID: nightly.UID}}
	}
	e, err := checkpoint.NewEncoder(uid, nil)
	if err != nil {
		return err
	}
	for _, obj := range s.captured() {
		document, err := json.Marshal(obj)
		if err != nil {
			return err
		}
		if _, err := e.Add(document); err != nil {
			return err
		}
	}
	chunks, err := e.End()
	if err != nil {
		return err
	}
	for _, chunk := range chunks {
		if err := s.world.Client.Create(ctx, chunk.Object); err != nil {
			return err
		}
		spec.Chunks, spec.Objects, spec.Bytes = append(spec.Chunks, chunk.Ref), spec.Objects+chunk.Ref.Objects, spec.Bytes+int64(chunk.Ref.Bytes)
	}
	made := &capturev1.ManifestCheckpoint{ObjectMeta: metav1.ObjectMeta{Name: checkpoint.Name(uid)}, Spec: spec}
	s.request.Spec.Source.Checkpoint = &capturev1.NameRef{Name: made.Name}
	return s.world.Client.Create(ctx, made)
}

// nightly is the capture of the volume, whose driver gave it more than the claim had asked for.
func (s *restoreStory) nightly(ctx context.Context) (*capturev1.VolumeCaptureRequest, error) {
	taken := &capturev1.VolumeCaptureRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: "nightly"},
		Spec:       capturev1.VolumeCaptureRequestSpec{Target: capturev1.ClaimTarget{Name: "data"}},
	}
	if err := s.world.Client.Create(ctx, taken); err != nil {
		return nil, fmt.Errorf("make volume capture: %w", err)
	}
	taken.Status.Phase, taken.Status.RestoreSize = volumecapture.Succeeded, ptr.To(resource.MustParse("2Gi"))
	taken.Status.Conditions = []metav1.Condition{ready(s.world.Now())}
	if err := s.world.Client.Status().Update(ctx, taken); err != nil {
		return nil, fmt.Errorf("end volume capture: %w", err)
	}
	return taken, nil
}

func ready(at time.Time) metav1.Condition {
	return metav1.Condition{Type: fsm.Ready, Status: metav1.ConditionTrue, Reason: string(capturev1.ReasonCompleted), LastTransitionTime: metav1.NewTime(at)}
}

// delete deletes what was restored, and has the request looked at: by whoever sees it as it
// was a while ago, too.
func (s *restoreStory) delete(ctx context.Context) error {
	s.deleted = true
	if err := s.world.Client.Delete(ctx, configMap(s.world, "same")); err != nil {
		return err
	}
	touched := s.request.DeepCopy()
	touched.Annotations = map[string]string{"touched": "yes"}
	return s.world.Client.Patch(ctx, touched, client.MergeFrom(s.request))
}

// claimedAfter is how long the controller of VolumeRestoreRequests takes to make a claim: longer than
// whoever does not wait for it.
const claimedAfter = 2 * time.Second

// restoreVolumes plays that controller, and the driver behind it: it makes the claim after a while,
// and gives it its volume when it looks again.
func (s *restoreStory) restoreVolumes(ctx context.Context) (changed bool, next time.Time, err error) {
	for _, found := range s.world.All(volumeRestoreKind) {
		v := &capturev1.VolumeRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: found.GetNamespace(), Name: found.GetName()}}
		if !s.world.Find(v) || len(v.Status.Conditions) > 0 {
			continue
		}
		if _, known := s.asked[v.UID]; !known {
			s.asked[v.UID] = s.world.Now()
		}
		if due := s.asked[v.UID].Add(claimedAfter); s.world.Now().Before(due) {
			next = due
			continue
		}
		claim := claimOf(v)
		if is := claim.DeepCopy(); s.world.Find(is) {
			err = s.bind(ctx, v, is)
		} else {
			err = s.world.Client.Create(ctx, claim)
		}
		if err != nil {
			return false, next, fmt.Errorf("restore volume: %w", err)
		}
		changed = true
	}
	return changed, next, nil
}

func claimOf(v *capturev1.VolumeRestoreRequest) *corev1.PersistentVolumeClaim {
	t := v.Spec.VolumeClaimTemplate
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: t.Name, Annotations: map[string]string{capturev1.RestoreAnnotation: string(v.UID)}},
		Spec:       corev1.PersistentVolumeClaimSpec{AccessModes: t.Spec.AccessModes, Resources: t.Spec.Resources},
	}
	maps.Copy(claim.Annotations, t.Annotations)
	return claim
}

func (s *restoreStory) bind(ctx context.Context, v *capturev1.VolumeRestoreRequest, claim *corev1.PersistentVolumeClaim) error {
	v.Status.PVCRef = &capturev1.ArtifactRef{APIVersion: "v1", Kind: "PersistentVolumeClaim", Name: claim.Name, UID: claim.UID}
	v.Status.Conditions = []metav1.Condition{ready(s.world.Now())}
	return s.world.Client.Status().Update(ctx, v)
}
