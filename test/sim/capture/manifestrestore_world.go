package capture

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	"github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
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
		spec.Volumes = []capturev1.ManifestVolume{{Claim: "data", VolumeCaptureRequest: "nightly"}}
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

// restoreVolumes plays the controller of VolumeRestoreRequests, and the driver behind it.
func (s *restoreStory) restoreVolumes(ctx context.Context) (changed bool, next time.Time, err error) {
	for _, found := range s.world.All(volumeRestoreKind) {
		v := &capturev1.VolumeRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: found.GetNamespace(), Name: found.GetName()}}
		if !s.world.Find(v) || len(v.Status.Conditions) > 0 {
			continue
		}
		template := v.Spec.VolumeClaimTemplate
		claim := &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: v.Namespace, Name: template.Name, Annotations: template.Annotations},
			Spec:       corev1.PersistentVolumeClaimSpec{AccessModes: template.Spec.AccessModes, Resources: template.Spec.Resources},
		}
		if err := s.world.Client.Create(ctx, claim); err != nil {
			return false, next, fmt.Errorf("make claim: %w", err)
		}
		v.Status.PVCRef = &capturev1.ArtifactRef{APIVersion: "v1", Kind: "PersistentVolumeClaim", Name: claim.Name, UID: claim.UID}
		v.Status.Conditions = []metav1.Condition{{
			Type: fsm.Ready, Status: metav1.ConditionTrue, Reason: string(capturev1.ReasonCompleted), LastTransitionTime: metav1.NewTime(s.world.Now()),
		}}
		if err := s.world.Client.Status().Update(ctx, v); err != nil {
			return false, next, fmt.Errorf("end volume restore: %w", err)
		}
		changed = true
	}
	return changed, next, nil
}
