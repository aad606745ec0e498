package capture

import (
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// tenant lets the account of a namespace do there what an administrator of it may.
const tenant = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: statecraft-capture, namespace: NAMESPACE}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: statecraft-capture, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: statecraft-capture, namespace: NAMESPACE}]
`

// shop serves a page from its volume; how it starts depends on its settings, its password and its account.
const shop = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: web, namespace: NAMESPACE, labels: {app: shop}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web, namespace: NAMESPACE, labels: {app: shop}}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: NAMESPACE, labels: {app: shop}}
data: {colour: blue}
---
apiVersion: v1
kind: Secret
metadata: {name: password, namespace: NAMESPACE, labels: {app: shop}}
stringData: {password: canary-secret}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: NAMESPACE, labels: {app: shop}}
spec: {accessModes: [ReadWriteOnce], storageClassName: csi, resources: {requests: {storage: 8Mi}}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: NAMESPACE, labels: {app: shop}}
spec: {selector: {app: shop}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NAMESPACE, labels: {app: shop}}
spec:
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      serviceAccountName: web
      terminationGracePeriodSeconds: 0
      containers:
      - name: web
        image: IMAGE
        imagePullPolicy: Never
        command: [sh, -c, 'mkdir -p /www && echo "$COLOUR $PASSWORD $(cat /data/orders 2>/dev/null)" >/www/index.html && httpd -f -p 8080 -h /www']
        env:
        - {name: COLOUR, valueFrom: {configMapKeyRef: {name: settings, key: colour}}}
        - {name: PASSWORD, valueFrom: {secretKeyRef: {name: password, key: password}}}
        readinessProbe: {httpGet: {port: 8080}, periodSeconds: 1}
        volumeMounts: [{name: data, mountPath: /data}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
`

func in(namespace, manifest string) string {
	return strings.NewReplacer("NAMESPACE", namespace, "IMAGE", images.Busybox).Replace(manifest)
}

// key gives the operator a key for Secrets, as an administrator does.
func (s *stage) key(id string) {
	s.T.Helper()
	keys := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.SystemNamespace, Name: "statecraft-capture-keys"},
		Data:       map[string][]byte{"active": []byte(id), id: make([]byte, 32)},
	}
	if _, err := rand.Read(keys.Data[id]); err != nil {
		s.T.Fatal(err)
	}
	s.Create(keys)
	s.T.Cleanup(func() { s.Delete(keys) })
}

// page is what the shop of a namespace serves, by the address of its Service.
func (s *stage) page(namespace string) string {
	s.T.Helper()
	run(s.T, s.Bed, "rollout", "status", "deployment/web", "-n", namespace, "--timeout=90s")
	address := run(s.T, s.Bed, "get", "service", "web", "-n", namespace, "-o", "jsonpath={.spec.clusterIP}")
	var page string
	harness.Eventually(s.T, within, poll, func() error {
		out, err := s.Bed.Kubectl(s.T.Context(), "exec", "-n", namespace, "deployment/web", "--", "wget", "-qO-", "http://"+address)
		page = strings.TrimSpace(out)
		if err == nil && page == "" {
			err = fmt.Errorf("an empty page")
		}
		return err
	})
	return page
}

// TestManifestsComeBack captures a shop with its data, and restores it into another namespace, where it works.
func TestManifestsComeBack(t *testing.T) {
	s := newStage(t)
	s.key("first")
	harness.Apply(t, s.Bed, in(s.Namespace, tenant))
	harness.Apply(t, s.Bed, in(s.Namespace, shop))
	s.page(s.Namespace)
	s.Kubectl("exec", "deployment/web", "--", "sh", "-c", "echo 42 >/data/orders && sync")

	data := capture("data", "data", capturev1.Snapshot)
	s.Create(data)
	s.succeeds(data)
	taken := &capturev1.ManifestCaptureRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "shop"},
		Spec: capturev1.ManifestCaptureRequestSpec{
			Selector:       &capturev1.ManifestSelector{LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "shop"}}},
			IncludeSecrets: true, Volumes: []capturev1.ManifestVolume{{Claim: "data", VolumeCaptureRequest: data.Name}},
		},
	}
	s.Create(taken)
	s.succeeds(taken)
	if taken.Status.Captured != 7 || taken.Status.Expected != 7 {
		t.Errorf("captured %d of %d, and not 7: %+v", taken.Status.Captured, taken.Status.Expected, taken.Status.Skipped)
	}

	other := bedtest.Namespace(t, s.Bed)
	harness.Apply(t, s.Bed, in(other, tenant))
	back := &capturev1.ManifestRestoreRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "back", Namespace: other},
		Spec: capturev1.ManifestRestoreRequestSpec{Source: capturev1.ManifestSource{
			ManifestCaptureRequest: &capturev1.RequestRef{Name: taken.Name, Namespace: s.Namespace}}},
	}
	s.Create(back)
	if c := s.ended(back); c.Status != metav1.ConditionTrue {
		t.Fatalf("%s, %s: %+v", c.Reason, c.Message, back.Status.Results)
	}
	if page := s.page(other); page != "blue canary-secret 42" {
		t.Errorf("the restored shop serves %q", page)
	}
	if log := s.Manager.Log(); strings.Contains(log, "canary-secret") {
		t.Error("the manager has told a Secret")
	}
	s.Delete(taken)
	s.AwaitGone(taken)
	s.AwaitGone(keeperOf(taken))
}
