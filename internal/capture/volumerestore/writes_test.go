package volumerestore

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// TestWrites counts how often the status is written: in each phase that must be durable
// before its effects, and at the end.
func TestWrites(t *testing.T) {
	for what, c := range map[string]struct {
		rehearsal *capturev1.Rehearsal
		want      int
	}{
		"a restore":   {nil, 3},
		"a rehearsal": {&capturev1.Rehearsal{}, 4},
	} {
		obj, w, now, writes := newRequest(), newBench().World(), time.Unix(1_700_000_000, 0), 0
		obj.Spec.Rehearsal = c.rehearsal
		for range 20 {
			in := input{Obj: obj, World: w, Now: now}
			step, err := Machine.Step(in)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range step.Decision.Do {
				w = Perform(w, e)
			}
			next := Machine.Reduce(in, step, nil)
			if !equality.Semantic.DeepEqual(obj, next.Obj) {
				writes++
			}
			obj, now = next.Obj, now.Add(time.Second)
			if len(step.Decision.Do) == 0 && !step.Moved() {
				w = Settle(obj, w)
			}
		}
		if obj.Status.Phase != Succeeded || writes != c.want {
			t.Errorf("%s: %s after %d writes, want %d", what, obj.Status.Phase, writes, c.want)
		}
	}
}

func TestAProbeFindsTheVolumeAndStays(t *testing.T) {
	r, ttl, stopped := newRequest(), int32(0), true
	r.Spec.Rehearsal = &capturev1.Rehearsal{Probe: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{TTLSecondsAfterFinished: &ttl, Suspend: &stopped}}}
	r.Spec.Rehearsal.Probe.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: RestoredVolume}, {Name: "scratch"}}
	job := NewProbe(r, "k1")
	pod := job.Spec.Template.Spec
	switch {
	case job.Spec.TTLSecondsAfterFinished != nil || job.Spec.Suspend != nil:
		t.Error("the Job may go before anybody looks, or never run")
	case len(pod.Volumes) != 2 || pod.Volumes[0].PersistentVolumeClaim == nil || pod.Volumes[0].PersistentVolumeClaim.ClaimName != "data":
		t.Errorf("volumes %+v", pod.Volumes)
	case pod.RestartPolicy != corev1.RestartPolicyNever:
		t.Errorf("restart policy %s", pod.RestartPolicy)
	case len(job.OwnerReferences) != 1 || job.OwnerReferences[0].UID != "k1":
		t.Errorf("owners %+v", job.OwnerReferences)
	}
	if stillThere := r.Spec.Rehearsal.Probe.Spec.TTLSecondsAfterFinished; stillThere == nil {
		t.Error("the request was written to")
	}
}
