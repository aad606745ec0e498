//go:build full

package capture

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// rights are what a namespace gets: its team administers it, and its account may capture and restore there.
const rights = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: statecraft-capture, namespace: NAMESPACE}
` + binding + `
metadata: {name: team, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: USER}]
` + binding + `
metadata: {name: captures, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: statecraft-capture-edit}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: USER}, {kind: User, apiGroup: rbac.authorization.k8s.io, name: USER-clerk}]
` + binding + `
metadata: {name: tenant, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: statecraft-capture-tenant}
subjects: [{kind: ServiceAccount, name: statecraft-capture, namespace: NAMESPACE}]
` + binding + `
metadata: {name: tenant-secrets, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: statecraft-capture-tenant-secrets}
subjects: [{kind: ServiceAccount, name: statecraft-capture, namespace: NAMESPACE}]
` + binding + `
metadata: {name: tenant-restore, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: statecraft-capture-tenant-restore}
subjects: [{kind: ServiceAccount, name: statecraft-capture, namespace: NAMESPACE}]
` + binding + `
metadata: {name: tenant-restore-secrets, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: statecraft-capture-tenant-restore-secrets}
subjects: [{kind: ServiceAccount, name: statecraft-capture, namespace: NAMESPACE}]
`

const binding = `---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding`

// team is somebody with a namespace. Its clerk may make requests there, and nothing else.
type team struct {
	*stage
	name      string
	namespace string
	c         client.Client
	clerk     client.Client
}

func (s *stage) team(name string) *team {
	s.T.Helper()
	return s.teamIn(name, bedtest.Namespace(s.T, s.Bed))
}

func (s *stage) teamIn(name, namespace string) *team {
	s.T.Helper()
	harness.Apply(s.T, s.Bed, strings.NewReplacer("NAMESPACE", namespace, "USER", name).Replace(rights))
	x := &team{stage: s, name: name, namespace: namespace, c: s.as(name), clerk: s.as(name + "-clerk")}
	harness.Eventually(s.T, within, poll, func() error { // RBAC learns
		return errors.Join(x.c.List(s.T.Context(), &corev1.SecretList{}, client.InNamespace(namespace)),
			x.clerk.List(s.T.Context(), &capturev1.VolumeCaptureRequestList{}, client.InNamespace(namespace)))
	})
	return x
}

// as is a client of a person.
func (s *stage) as(user string) client.Client {
	s.T.Helper()
	return harness.ClientAs(s.T, s.Bed, s.Client, user)
}

// makes something in the team's namespace, as the team.
func (x *team) makes(obj client.Object) {
	x.T.Helper()
	obj.SetNamespace(x.namespace)
	if err := x.c.Create(x.T.Context(), obj); err != nil {
		x.T.Fatal(err)
	}
}

// refused says that somebody cannot make something, because of this.
func (x *team) refused(c client.Client, obj client.Object, words string) {
	x.T.Helper()
	obj.SetNamespace(x.namespace)
	err := c.Create(x.T.Context(), obj)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), words) {
		x.T.Errorf("%T %s: error %v, want one that says %q", obj, obj.GetName(), err, words)
	}
}

// fails says that a request of the team ends so.
func (x *team) fails(r request, reason string) {
	x.T.Helper()
	if c := x.ended(r); c.Status != metav1.ConditionFalse || c.Reason != reason {
		x.T.Errorf("%T %s: %s, %s; want %s", r, r.GetName(), c.Reason, c.Message, reason)
	}
}

// manifests captures everything of the namespace, in which there are no claims.
func manifests(name string, secrets bool) *capturev1.ManifestCaptureRequest {
	return &capturev1.ManifestCaptureRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       capturev1.ManifestCaptureRequestSpec{Selector: &capturev1.ManifestSelector{}, IncludeSecrets: secrets},
	}
}

// manifestsBack restores a capture; namespace "" is one's own.
func manifestsBack(name, namespace, of string) *capturev1.ManifestRestoreRequest {
	return &capturev1.ManifestRestoreRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: capturev1.ManifestRestoreRequestSpec{
			Source:         capturev1.ManifestSource{ManifestCaptureRequest: &capturev1.RequestRef{Name: of, Namespace: namespace}},
			ConflictPolicy: capturev1.ConflictSkip,
		},
	}
}

// allow lets a person restore one capture of a namespace.
func (s *stage) allow(user, namespace, resource, name string) {
	s.T.Helper()
	harness.Apply(s.T, s.Bed, fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: restore-%[2]s, namespace: %[1]s}
rules: [{apiGroups: [capture.statecraft.dev], resources: [%[2]s], resourceNames: [%[3]s], verbs: [restore]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: restore-%[2]s, namespace: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: restore-%[2]s}
subjects: [{kind: User, apiGroup: rbac.authorization.k8s.io, name: %[4]s}]
`, namespace, resource, name, user))
}

// secret holds what must never be seen.
func secret() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "password"}, StringData: map[string]string{"password": canary}}
}

const canary = "canary-3f1c77"
