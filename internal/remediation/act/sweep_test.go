package act

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/remediation/execution"
)

// TestSweepDropsWhatIsOurs: a suspended Job goes if its execution is gone and admission vouches for its name. Labels prove nothing.
func TestSweepDropsWhatIsOurs(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*batchv1.Job)
		drops  bool
	}{
		"a Job that was left behind":    {func(*batchv1.Job) {}, true},
		"a Job that runs":               {func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(false) }, false},
		"a Job that a user has named":   {func(j *batchv1.Job) { j.Name = "nightly" }, false},
		"a Job of another execution":    {func(j *batchv1.Job) { j.Name = execution.JobName("x2") }, false},
		"a Job that names no execution": {func(j *batchv1.Job) { j.Annotations = nil }, false},
	} {
		job := &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "shop", Name: execution.JobName("x1"), UID: "j1", Labels: map[string]string{remediationv1.ExecutionLabel: "x1"},
				Annotations: map[string]string{remediationv1.ExecutionLabel: "gone"},
			},
			Spec: batchv1.JobSpec{Suspend: ptr.To(true)},
		}
		tc.change(job)
		scheme := runtime.NewScheme()
		for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, remediationv1.AddToScheme} {
			if err := add(scheme); err != nil {
				t.Fatal(err)
			}
		}
		c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(job).Build()
		env := kube.Env{Client: c, Live: c, Namespace: "system"}
		if err := (Sweeper{Writer: env.Writer("execution"), Cached: env.Cached(), Live: env.LiveReader()}).Sweep(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		err := c.Get(t.Context(), client.ObjectKeyFromObject(job), &batchv1.Job{})
		if dropped := apierrors.IsNotFound(err); dropped != tc.drops {
			t.Errorf("%s: dropped %t, %v", name, dropped, err)
		}
	}
}
