package capture

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	stored "github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// shop is what a small shop consists of, as it was captured in namespace "old".
const shop = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: old, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      serviceAccountName: web
      containers: [{name: web, image: "web:1", volumeMounts: [{name: data, mountPath: /data}]}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: old}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: old
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: of-the-old-one}]
data: {theme: dark, size: large}
---
apiVersion: v1
kind: Secret
metadata: {name: password, namespace: old}
data: {password: Y2FuYXJ5LXNlY3JldA==}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: old}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web, namespace: old}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web, namespace: old}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web, namespace: old}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: web}
subjects: [{kind: ServiceAccount, name: web, namespace: old}]
`

// canary is in the Secret of the shop, as it is stored.
const canary = "Y2FuYXJ5LXNlY3JldA=="

func objectsOf(t testing.TB, text string) (objects []*unstructured.Unstructured) {
	t.Helper()
	for _, document := range strings.Split(text, "\n---\n") {
		obj := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &obj.Object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, obj)
	}
	return objects
}

// checkpointOf writes a checkpoint as a capture would.
func checkpointOf(t testing.TB, c client.Client, objects []*unstructured.Unstructured, volumes ...capturev1.ManifestVolume) *capturev1.ManifestCheckpoint {
	t.Helper()
	uid := uuid.NewUUID()
	made := &capturev1.ManifestCheckpoint{
		ObjectMeta: metav1.ObjectMeta{Name: stored.Name(uid)},
		Spec: capturev1.ManifestCheckpointSpec{
			Origin: capturev1.Origin{Namespace: "old", NamespaceUID: "of-the-old-one", RequestUID: uid}, ResourceVersion: "1", Volumes: volumes,
		},
	}
	e, err := stored.NewEncoder(uid, nil)
	if err != nil {
		t.Fatal(err)
	}
	take := func(chunks []stored.Chunk, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for _, chunk := range chunks {
			create(t, c, chunk.Object)
			made.Spec.Chunks = append(made.Spec.Chunks, chunk.Ref)
			made.Spec.Objects += chunk.Ref.Objects
			made.Spec.Bytes += int64(chunk.Ref.Bytes)
		}
	}
	for _, obj := range objects {
		document, err := json.Marshal(obj.Object)
		if err != nil {
			t.Fatal(err)
		}
		take(e.Add(document))
	}
	take(e.End())
	create(t, c, made)
	return made
}

// empty says that the claim of the shop is restored without data.
var empty = capturev1.ManifestVolume{Claim: "data", Empty: true}

// scene is a namespace to restore into, whose account may do what the shop needs.
type scene struct {
	t         *testing.T
	bed       *bed.Bed
	c         client.Client
	namespace string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	b := bedtest.ControlPlane(t)
	s := &scene{t: t, bed: b, namespace: bedtest.Namespace(t, b), c: newClient(t, b)}
	if err := appsv1.AddToScheme(s.c.Scheme()); err != nil {
		t.Fatal(err)
	}
	may := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: act.Account}}
	verbs := []string{"get", "create", "patch"}
	may.Rules = []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps", "secrets", "services", "persistentvolumeclaims", "serviceaccounts"}, Verbs: verbs},
		{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: verbs},
		{APIGroups: []string{"rbac.authorization.k8s.io"}, Resources: []string{"roles", "rolebindings"}, Verbs: verbs},
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}},
	}
	create(t, s.c, may)
	create(t, s.c, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: act.Account}})
	create(t, s.c, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: act.Account},
		RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: act.Account},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: s.namespace, Name: act.Account}},
	})
	return s
}

// ask makes a request to restore a checkpoint.
func (s *scene) ask(name string, from *capturev1.ManifestCheckpoint, change func(*capturev1.ManifestRestoreRequestSpec)) *capturev1.ManifestRestoreRequest {
	s.t.Helper()
	r := &capturev1.ManifestRestoreRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: capturev1.ManifestRestoreRequestSpec{
			Source: capturev1.ManifestSource{Checkpoint: &capturev1.NameRef{Name: from.Name}},
		},
	}
	if change != nil {
		change(&r.Spec)
	}
	if r.Spec.ConflictPolicy == capturev1.ConflictReplace && r.Spec.NotAfter == nil {
		r.Spec.NotAfter = &metav1.Time{Time: time.Now().Add(time.Hour)}
	}
	create(s.t, s.c, r)
	return r
}

// ends waits for the end of a request.
func (s *scene) ends(r *capturev1.ManifestRestoreRequest, want fsm.Reason) *capturev1.ManifestRestoreRequest {
	s.t.Helper()
	harness.Eventually(s.t, soon, poll, func() error {
		if err := s.c.Get(s.t.Context(), client.ObjectKeyFromObject(r), r); err != nil {
			return err
		}
		ready := apimeta.FindStatusCondition(r.Status.Conditions, fsm.Ready)
		if ready == nil {
			return fmt.Errorf("%s is %s: %s", r.Name, r.Status.Phase, r.Status.WaitingFor)
		}
		if ready.Reason != string(want) {
			s.t.Fatalf("%s ended with %s: %s, want %s\n%+v", r.Name, ready.Reason, ready.Message, want, r.Status.Results)
		}
		return nil
	})
	return r
}

// says compares the message of a request that has ended.
func (s *scene) says(r *capturev1.ManifestRestoreRequest, want string) {
	s.t.Helper()
	if got := apimeta.FindStatusCondition(r.Status.Conditions, fsm.Ready).Message; got != want {
		s.t.Errorf("%s says %q, want %q", r.Name, got, want)
	}
}

func (s *scene) get(obj client.Object, name string) client.Object {
	s.t.Helper()
	if err := s.c.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, obj); err != nil {
		s.t.Fatal(err)
	}
	return obj
}

// uidOf is the UID of an object; "" if there is none.
func (s *scene) uidOf(obj client.Object, name string) types.UID {
	if err := s.c.Get(context.Background(), client.ObjectKey{Namespace: s.namespace, Name: name}, obj); err != nil {
		return ""
	}
	return obj.GetUID()
}

// resultOf is what a request says of one object.
func resultOf(r *capturev1.ManifestRestoreRequest, resource, name string) capturev1.ObjectResult {
	for _, one := range r.Status.Results {
		if one.Resource == resource && one.Name == name {
			return one
		}
	}
	return capturev1.ObjectResult{}
}
