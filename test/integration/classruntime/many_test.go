package classruntime

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// TestManyFunctions: three functions, then sixty-four in another order, then three again. Only what changed is written, and nothing is
// left over.
func TestManyFunctions(t *testing.T) {
	s := newStage(t)
	s.manager.Start()
	var few, many []runtimev1.Function
	for i := range 64 {
		many = append(many, function(fmt.Sprintf("f%02d", i), 8080))
	}
	few = append(few, many[10], many[40], many[50])
	s.create(s.newClass(few...))
	s.until("Ready", metav1.ConditionTrue, "")

	began := time.Now()
	slices.Reverse(many)
	s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions = many })
	harness.Eventually(t, 2*timeout.Wait, poll, func() error { return s.is("Ready", metav1.ConditionTrue, "") })
	s.wrote(began, map[string]int{"patch deployments.apps": 61, "patch services": 61})
	for line := range strings.Lines(s.manager.Log()) { // an effect that takes more than four seconds fails
		if strings.Contains(line, s.namespace) && strings.Contains(line, "effect failed") {
			t.Error(line)
		}
	}

	began = time.Now()
	s.edit(func(c *runtimev1.ClassRuntime) { slices.Reverse(c.Spec.Functions) })
	s.until("Ready", metav1.ConditionTrue, "")
	s.wrote(began, map[string]int{})

	began = time.Now()
	s.edit(func(c *runtimev1.ClassRuntime) { c.Spec.Functions = []runtimev1.Function{few[2], few[0], few[1]} })
	s.until("Ready", metav1.ConditionTrue, "")
	s.wrote(began, map[string]int{"delete deployments.apps": 61, "delete services": 61})
	for _, list := range []client.ObjectList{&appsv1.DeploymentList{}, &corev1.ServiceList{}} {
		harness.Eventually(t, timeout.Wait, poll, func() error {
			if err := s.List(t.Context(), list, client.InNamespace(s.namespace), client.HasLabels{runtimev1.ClassLabel}); err != nil {
				return err
			}
			if n := lengthOf(list); n != 3 {
				return fmt.Errorf("%d of %T", n, list)
			}
			return nil
		})
	}
}

func lengthOf(list client.ObjectList) int {
	switch l := list.(type) {
	case *appsv1.DeploymentList:
		return len(l.Items)
	case *corev1.ServiceList:
		return len(l.Items)
	}
	return -1
}

// wrote compares what the manager wrote of children since a time. What was refused wrote nothing: Kubernetes' own controllers write
// the status of a child meanwhile, and a child that was just deleted may still be in the manager's cache.
func (s *stage) wrote(since time.Time, want map[string]int) {
	s.Helper()
	counts := bed.CountWrites(slices.DeleteFunc(s.writes(since), func(w bed.Write) bool { return w.Code >= http.StatusMultipleChoices }))
	delete(counts, "patch classruntimes.runtime.statecraft.dev/status")
	if fmt.Sprint(counts) != fmt.Sprint(want) {
		s.Errorf("wrote %v, want %v", counts, want)
	}
}
