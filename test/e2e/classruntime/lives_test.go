package classruntime

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// TestAClassLives: a class of two functions from apply to available, at rest, edited, and deleted.
func TestAClassLives(t *testing.T) {
	s := newStage(t)
	s.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "client"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: "client", Image: images.Function, ImagePullPolicy: corev1.PullNever,
	}}}})
	s.Kubectl("wait", "--for=condition=Ready", "pod/client", "--timeout=60s")

	runs := harness.ByLevel(5, 30)
	for i := range runs {
		name := fmt.Sprintf("cart%d", i)
		began := time.Now()
		s.Create(newClass(name, function("add", 2), function("total", 1)))
		s.awaitReady(name)
		s.truth(name, map[string]int{"add": 2, "total": 1})
		harness.Row(t, "class %d of two functions is ready and answers after %.1f s", i+1, time.Since(began).Seconds())
		if i < runs-1 {
			s.Delete(s.class(name))
		}
	}
	name := fmt.Sprintf("cart%d", runs-1)
	s.rests()
	s.editsOne(name)
	s.isDeleted(name)
}

// truth: every pod that counts answers at its own address at once, and the Services do within two seconds.
func (s *stage) truth(name string, want map[string]int) {
	s.T.Helper()
	ready := time.Now()
	for key, n := range want {
		pods := s.pods(name, key)
		if len(pods) != n {
			s.T.Errorf("%d pods of %s, want %d", len(pods), key, n)
		}
		for _, p := range pods {
			if err := s.answers(p, key); err != nil {
				s.T.Error(err)
			}
		}
	}
	for key := range want {
		s.serves(name, key, ready)
	}
	c := s.class(name)
	for _, f := range c.Status.Functions {
		if !f.Ready || f.ObservedURL != fmt.Sprintf("http://%s-%s.%s.svc:%d", name, f.Key, s.Namespace, port) {
			s.T.Errorf("%+v", f)
		}
	}
	children := 0 // of each function a Deployment and a Service, and a budget where a pod can be spared
	for _, n := range want {
		children += 2 + min(n-1, 1)
	}
	if c.Status.ReadyFunctions != "2/2" || len(c.Status.ResourceRefs) != children {
		s.T.Errorf("%s, %v", c.Status.ReadyFunctions, c.Status.ResourceRefs)
	}
}

func (s *stage) serves(name, key string, since time.Time) {
	s.T.Helper()
	var svc corev1.Service
	if err := s.Client.Get(s.T.Context(), client.ObjectKey{Namespace: s.Namespace, Name: name + "-" + key}, &svc); err != nil {
		s.T.Fatal(err)
	}
	// Beside other tests a command takes long, so that only the full level counts those before it.
	limit := harness.ByLevel(serviceWithin, max(0, serviceWithin-time.Since(since)))
	harness.Within(s.T, limit, poll, func() error {
		out, err := s.Bed.Kubectl(s.T.Context(), "exec", "-n", s.Namespace, "client", "--", "/function", fmt.Sprintf("-ask=http://%s:%d", svc.Spec.ClusterIP, port))
		if err != nil || strings.TrimSpace(out) != key {
			return fmt.Errorf("Service %s: %q, %w", svc.Name, out, err)
		}
		return nil
	})
}

// rests: at rest the manager writes nothing.
func (s *stage) rests() {
	s.T.Helper()
	began := time.Now()
	harness.Consistently(s.T, harness.ByLevel(20*time.Second, time.Minute), time.Second, func() error {
		writes, err := s.Bed.Writes(began, harness.User(area))
		writes = slices.DeleteFunc(writes, func(w bed.Write) bool { return w.Namespace != s.Namespace }) // another test's class may be on its way out
		if err == nil && len(writes) > 0 {
			err = fmt.Errorf("writes at rest: %v", bed.CountWrites(writes))
		}
		return err
	})
	harness.Row(s.T, "no write at rest in %.0f s", time.Since(began).Seconds())
}

// editsOne: an edit of one function writes to that function only, and Ready waits for it.
func (s *stage) editsOne(name string) {
	s.T.Helper()
	before := s.pods(name, "total")
	began := time.Now()
	s.edit(name, func(c *runtimev1.ClassRuntime) { c.Spec.Functions[0].Args = []string{"-says=more"} })
	generation := s.class(name).Generation
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		if seen := s.class(name).Status.ObservedGeneration; seen != generation {
			return fmt.Errorf("generation %d is observed, want %d", seen, generation)
		}
		return s.is(name, "Ready", metav1.ConditionTrue, "")
	})
	for _, p := range s.pods(name, "add") {
		if err := s.answers(p, "more"); err != nil {
			s.T.Error(err)
		}
	}
	if after := s.pods(name, "total"); len(after) != 1 || after[0].UID != before[0].UID {
		s.T.Error("a pod of the function that was not edited was replaced")
	}
	writes, err := s.Bed.Writes(began, harness.User(area))
	if err != nil {
		s.T.Fatal(err)
	}
	for _, w := range writes {
		if w.Resource == "services" || w.Resource == "deployments" && w.Name != name+"-add" {
			s.T.Errorf("the edit of one function writes %s %s %s", w.Verb, w.Resource, w.Name)
		}
	}
	harness.Row(s.T, "an edit of one function: %v", bed.CountWrites(bed.WithoutElections(writes)))
}

// isDeleted: nothing is left, also while the manager is off.
func (s *stage) isDeleted(name string) {
	s.T.Helper()
	s.Manager.Stop()
	s.Delete(s.class(name))
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		out, err := s.Bed.Kubectl(s.T.Context(), "get", "-n", s.Namespace, "-o", "name", "-l", runtimev1.ClassLabel, "deployments,services,replicasets,pods")
		if err != nil || strings.TrimSpace(out) != "" {
			return fmt.Errorf("left: %s %w", out, err)
		}
		return nil
	})
}
