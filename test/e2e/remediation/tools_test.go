package remediation

import (
	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// toolsSee compares how Flux, Argo CD and Helm read an execution with how they should.
func (s *stage) toolsSee(x *remediationv1.KubernetesExecution, want status.Status) {
	s.Helper()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(x)
	if err != nil {
		s.Fatal(err)
	}
	read, err := status.Compute(&unstructured.Unstructured{Object: object})
	if err != nil || read.Status != want {
		s.Errorf("tools read %s in %s as %+v, want %s (%v)", x.Name, x.Status.Phase, read, want, err)
	}
}
