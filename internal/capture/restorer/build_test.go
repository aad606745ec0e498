package restorer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

func sketch() Sketch {
	large := resource.MustParse("2Gi")
	retain := corev1.PersistentVolumeReclaimRetain
	return Sketch{
		Request: &capturev1.VolumeRestoreRequest{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "back", UID: "r1"},
			Status: capturev1.VolumeRestoreRequestStatus{Source: &capturev1.ResolvedSource{
				Driver: "disks.example.com", SnapshotHandle: "snap-1", RestoreSize: &large,
			}},
		},
		Claim: &corev1.PersistentVolumeClaim{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "data", UID: "c1", Annotations: map[string]string{"team": "blue"}},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		},
		Class: &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: "disks"}, ReclaimPolicy: &retain, MountOptions: []string{"noatime"},
			Parameters: map[string]string{
				"tier": "gold", "csi.storage.k8s.io/fstype": "xfs",
				"csi.storage.k8s.io/provisioner-secret-name": "make-${pvc.name}", "csi.storage.k8s.io/provisioner-secret-namespace": "${pvc.namespace}",
				"csi.storage.k8s.io/node-stage-secret-name": "stage-${pvc.annotations['team']}-${pv.name}", "csi.storage.k8s.io/node-stage-secret-namespace": "csi",
			},
		},
		Metadata: true,
	}
}

func TestAnIntentIsDrawnFromTheClass(t *testing.T) {
	i, err := Draft(sketch())
	if err != nil {
		t.Fatal(err)
	}
	want := &Intent{
		Request: Ref{"shop", "back", "r1"}, Claim: Ref{"shop", "data", "c1"},
		Plan: Plan{
			Driver: "disks.example.com", Name: "restore-r1", Snapshot: "snap-1", Bytes: 2 << 30, FSType: "xfs", MountFlags: []string{"noatime"},
			Parameters: map[string]string{
				"tier": "gold", "csi.storage.k8s.io/pvc/name": "data", "csi.storage.k8s.io/pvc/namespace": "shop", "csi.storage.k8s.io/pv/name": "restore-r1",
			},
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Secret:      &corev1.SecretReference{Name: "make-data", Namespace: "shop"},
		},
		Shape: Shape{
			ClassName: "disks", ReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			NodeStage: &corev1.SecretReference{Name: "stage-blue-restore-r1", Namespace: "csi"},
		},
	}
	if diff := cmp.Diff(want, i); diff != "" {
		t.Errorf("intent (-want +got):\n%s", diff)
	}
	cm, err := i.ConfigMap("csi")
	if err != nil {
		t.Fatal(err)
	}
	if back, err := ParseIntent(cm); err != nil || !cmp.Equal(&back, i) {
		t.Errorf("it is not what was stored: %v\n%s", err, cmp.Diff(i, &back))
	}
	cm.Name = "restore-r2"
	if _, err := ParseIntent(cm); err == nil {
		t.Error("an intent of another request is believed")
	}
}

func TestARehearsalLeavesNothing(t *testing.T) {
	s := sketch()
	s.Request.Spec.Rehearsal = &capturev1.Rehearsal{}
	if i, err := Draft(s); err != nil || i.Shape.ReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		t.Errorf("%+v, %v", i, err)
	}
}

func TestParametersThatAreRefused(t *testing.T) {
	for what, c := range map[string]struct {
		parameters map[string]string
		says       string
	}{
		"one that nobody knows":                          {map[string]string{prefix + "colour": "red"}, "it is not known"},
		"a secret without a namespace":                   {map[string]string{prefix + "node-stage-secret-name": "a"}, "needs a name and a namespace"},
		"a template that nobody fills":                   {map[string]string{prefix + "node-stage-secret-name": "${node}"}, "${node} is not known"},
		"the user chooses the secret of the provisioner": {map[string]string{prefix + "provisioner-secret-name": "${pvc.annotations['team']}"}, "is not known"},
		"the namespace of a secret by an annotation":     {map[string]string{prefix + "node-stage-secret-namespace": "${pvc.annotations['team']}"}, "is not known"},
	} {
		s := sketch()
		s.Class.Parameters = c.parameters
		if _, err := Draft(s); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestAVolumeIsForOneClaim(t *testing.T) {
	i, err := Draft(sketch())
	if err != nil {
		t.Fatal(err)
	}
	pv := NewPV(*i, Volume{ID: "v1", Capacity: 3 << 30, Context: map[string]string{"a": "b"}, Topology: []map[string]string{{"zone": "1"}, {"zone": "2"}}})
	ref := pv.Spec.ClaimRef
	capacity := pv.Spec.Capacity[corev1.ResourceStorage]
	switch {
	case ref.UID != "c1" || ref.Name != "data" || ref.Namespace != "shop":
		t.Errorf("claimRef %+v", ref)
	case capacity.Value() != 3<<30:
		t.Errorf("capacity %s", &capacity)
	case pv.Annotations[provisionedBy] != "disks.example.com" || pv.Annotations[deletionSecretName] != "make-data":
		t.Errorf("annotations %v", pv.Annotations)
	case len(pv.Spec.NodeAffinity.Required.NodeSelectorTerms) != 2:
		t.Errorf("affinity %+v", pv.Spec.NodeAffinity)
	case pv.Spec.CSI.VolumeHandle != "v1" || pv.Spec.CSI.FSType != "xfs" || pv.Spec.CSI.NodeStageSecretRef.Name != "stage-blue-restore-r1":
		t.Errorf("source %+v", pv.Spec.CSI)
	}
	i.Plan.Block = true
	if pv := NewPV(*i, Volume{ID: "v1"}); *pv.Spec.VolumeMode != corev1.PersistentVolumeBlock || pv.Spec.NodeAffinity != nil {
		t.Errorf("a block volume that is reached from everywhere: %+v", pv.Spec)
	}
}

func TestAClaimTellsWhoseItIs(t *testing.T) {
	r := sketch().Request
	r.Spec.VolumeClaimTemplate = capturev1.VolumeClaimTemplate{Name: "data", Annotations: map[string]string{capturev1.RestoreAnnotation: "forged"}}
	c := NewClaim(r, CreateClaim{Class: "disks", Volume: "restore-r1"})
	if !IsOurs(c, r) || len(c.OwnerReferences) > 0 || c.Spec.VolumeName != "restore-r1" || *c.Spec.StorageClassName != "disks" {
		t.Errorf("claim %+v", c)
	}
	if kept := NewClaim(r, CreateClaim{Keeper: "k1"}); len(kept.OwnerReferences) != 1 || kept.OwnerReferences[0].UID != "k1" {
		t.Errorf("owners of a rehearsal: %+v", kept.OwnerReferences)
	}
	for what, change := range map[string]func(){
		"another request of that name": func() { c.Annotations[capturev1.RestoreAnnotation] = "r2" },
		"no source":                    func() { c.Spec.DataSourceRef = nil },
		"another source":               func() { c.Spec.DataSourceRef.Name = "other" },
		"another kind":                 func() { c.Spec.DataSourceRef.Kind = "VolumeSnapshot" },
	} {
		c = NewClaim(r, CreateClaim{})
		if change(); IsOurs(c, r) {
			t.Errorf("%s: it passes for ours", what)
		}
	}
}

// TestARestoredClaimIsItsUsers: the keeper goes with the request, and the data in a claim that it owned would go with it.
func TestARestoredClaimIsItsUsers(t *testing.T) {
	for keeper, want := range map[Keeper]types.UID{{}: "", {UID: "k1"}: "", {Needed: true, UID: "k1"}: "k1"} {
		in := input{Obj: New("shop", "back", "r1"), World: newBench().World()}
		in.Obj.Status.Phase, in.World.Keeper = Claiming, keeper
		d := decideClaiming(in)
		if made, is := d.Do[0].(CreateClaim); !is || made.Keeper != want {
			t.Errorf("%+v: %+v", keeper, d.Do)
		}
	}
}
