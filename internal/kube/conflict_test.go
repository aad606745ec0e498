package kube

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The same conflict reads the same, in whatever order the server lists its fields: it goes into the status with every try.
func TestAConflictReadsTheSame(t *testing.T) {
	causes := []metav1.StatusCause{
		{Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec.replicas", Message: `conflict with "scaler" using apps/v1`},
		{Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec.paused", Message: `conflict with "zeta"`},
		{Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec.paused", Message: `conflict with "alpha"`},
	}
	const want = `Others own fields of Deployment a: .spec.paused is set by "alpha", .spec.paused is set by "zeta", .spec.replicas is set by "scaler". Remove the fields there, or delete the object.`
	for range causes {
		causes = append(causes[1:], causes[0])
		c, is := AsConflict(&apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonConflict, Details: &metav1.StatusDetails{Causes: causes}}})
		if !is {
			t.Fatal("it is no conflict")
		}
		c.Object = "Deployment a"
		if got := c.Error(); got != want {
			t.Errorf("%s", got)
		}
	}
}
