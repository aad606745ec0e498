package capture

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
)

// archive has what a shop has besides: a StatefulSet whose volume waits for its pod, a binding, and an object of a kind
// that somebody has brought.
const archive = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: archive, namespace: NAMESPACE}
spec:
  serviceName: archive
  selector: {matchLabels: {app: archive}}
  template:
    metadata: {labels: {app: archive}}
    spec:
      serviceAccountName: web
      terminationGracePeriodSeconds: 0
      containers:
      - name: archive
        image: IMAGE
        imagePullPolicy: Never
        command: [sleep, infinity]
        volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], storageClassName: csi-wait, resources: {requests: {storage: 8Mi}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: web}
subjects: [{kind: ServiceAccount, name: web, namespace: NAMESPACE}]
---
apiVersion: lost.example.com/v1
kind: Trinket
metadata: {name: ring, namespace: NAMESPACE}
spec: {of: gold}
`

const trinkets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: trinkets.lost.example.com}
spec:
  group: lost.example.com
  scope: Namespaced
  names: {plural: trinkets, kind: Trinket}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// in both workloads: what is in their volumes.
var workloads = []string{"deployment/web", "statefulset/archive"}

// digests are those of the volumes of both workloads, once these run.
func (s *stage) digests() string {
	s.T.Helper()
	var all []string
	for _, w := range workloads {
		run(s.T, s.Bed, "rollout", "status", w, "-n", s.Namespace, "--timeout=90s")
		all = append(all, w+" "+run(s.T, s.Bed, "exec", "-n", s.Namespace, w, "--", "sh", "-c", digest))
	}
	return strings.Join(all, "\n")
}

// captureAll captures everything of the namespace, with the volumes of both workloads.
func (s *stage) captureAll() *capturev1.ManifestCaptureRequest {
	s.T.Helper()
	all := &capturev1.ManifestCaptureRequest{
		ObjectMeta: metav1.ObjectMeta{Name: "everything"},
		Spec:       capturev1.ManifestCaptureRequestSpec{Selector: &capturev1.ManifestSelector{}, IncludeSecrets: true},
	}
	for _, claim := range []string{"data", "data-archive-0"} {
		volume := capture(claim, claim, capturev1.Snapshot)
		s.Create(volume)
		s.succeeds(volume)
		all.Spec.Volumes = append(all.Spec.Volumes, capturev1.ManifestVolume{Claim: claim, VolumeCaptureRequest: claim})
	}
	s.Create(all)
	s.succeeds(all)
	return all
}

// TestManifestsOfADeletedNamespaceComeBack deletes a namespace with everything in it, its captures included. What these
// have left is listed, and one request brings all of it back.
func TestManifestsOfADeletedNamespaceComeBack(t *testing.T) {
	s := newStage(t)
	s.key("first")
	harness.Apply(t, s.Bed, trinkets)
	t.Cleanup(func() {
		_, _ = s.Bed.Kubectl(t.Context(), "delete", "crd", "trinkets.lost.example.com", "--wait=false")
	})
	run(t, s.Bed, "wait", "--for=condition=Established", "crd/trinkets.lost.example.com", "--timeout=30s")
	for _, manifest := range []string{tenant, shop, archive} {
		harness.Apply(t, s.Bed, in(s.Namespace, manifest))
	}
	s.digests() // both run
	for _, w := range workloads {
		run(t, s.Bed, "exec", "-n", s.Namespace, w, "--", "sh", "-c", plant+" && echo 42 >/data/orders && sync")
	}
	was, wrote, taken := s.digests(), s.manifests(), s.captureAll()

	whole := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}
	s.Delete(whole)
	s.AwaitGone(whole)
	list, err := exec.CommandContext(t.Context(), product.Build(t, s.Bed, "statecraft-captures"), "list", "-n", s.Namespace, "--kubeconfig="+s.Bed.Kubeconfig()).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, list)
	}
	for _, want := range []string{"volumes of data data-archive-0", "checkpoint: " + taken.Status.CheckpointRef.Name, "claim data-archive-0"} {
		if !strings.Contains(string(list), want) {
			t.Errorf("the list does not say %q:\n%s", want, list)
		}
	}

	if err := s.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}); err != nil {
		t.Fatal(err)
	}
	harness.Apply(t, s.Bed, in(s.Namespace, tenant))
	back := &capturev1.ManifestRestoreRequest{ObjectMeta: metav1.ObjectMeta{Name: "back"}}
	back.Spec.Source.Checkpoint = &capturev1.NameRef{Name: taken.Status.CheckpointRef.Name}
	s.Create(back)
	if c := s.ended(back); c.Status != metav1.ConditionTrue {
		t.Fatalf("%s, %s: %+v", c.Reason, c.Message, back.Status.Results)
	}
	if n := back.Status.Counts["Created"]; n != taken.Status.Captured || n != back.Status.Objects {
		t.Errorf("%d objects were captured, and %d of %d created", taken.Status.Captured, n, back.Status.Objects)
	}
	if is := s.digests(); is != was {
		t.Errorf("volumes were\n%s\nand are\n%s", was, is)
	}
	if diff := cmp.Diff(wrote, s.manifests()); diff != "" {
		t.Errorf("objects are not what they were (-were, +are):\n%s", diff)
	}
	s.serves()
}

// manifests are the objects of the namespace, without what the API server and controllers write into them.
func (s *stage) manifests() map[string]any {
	s.T.Helper()
	const kinds = "deployments,statefulsets,persistentvolumeclaims,services,configmaps,secrets,serviceaccounts,roles,rolebindings,trinkets.lost.example.com"
	var list struct {
		Items []map[string]any `json:"items"`
	}
	if err := json.Unmarshal([]byte(s.Kubectl("get", kinds, "-o", "json")), &list); err != nil {
		s.T.Fatal(err)
	}
	all := map[string]any{}
	for _, o := range list.Items {
		is := unstructured.Unstructured{Object: o}
		for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"} {
			unstructured.RemoveNestedField(o, "metadata", field)
		}
		unstructured.RemoveNestedField(o, "metadata", "annotations", manifestrestore.MarkAnnotation)
		for _, field := range []string{"clusterIP", "clusterIPs"} {
			unstructured.RemoveNestedField(o, "spec", field)
		}
		if is.GetKind() == "PersistentVolumeClaim" {
			withoutBinding(o)
		}
		delete(o, "status")
		all[is.GetKind()+" "+is.GetName()] = o
	}
	return all
}

// withoutBinding removes from a claim which volume it got, and from what: a restored one is bound to another volume.
func withoutBinding(claim map[string]any) {
	for _, field := range []string{"volumeName", "dataSource", "dataSourceRef"} {
		unstructured.RemoveNestedField(claim, "spec", field)
	}
	unstructured.RemoveNestedField(claim, "metadata", "annotations")
}

// serves says that the shop works as it did: its page has what is in its settings, its Secret and its volume.
func (s *stage) serves() {
	s.T.Helper()
	if page := s.page(s.Namespace); page != "blue canary-secret 42" {
		s.T.Errorf("the restored shop serves %q", page)
	}
	if of := s.Kubectl("get", "trinkets.lost.example.com", "ring", "-o", "jsonpath={.spec.of}"); of != "gold" {
		s.T.Errorf("the ring is of %q", of)
	}
}
