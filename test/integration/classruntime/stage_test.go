// Package classruntime tests area runtime on a real API server with a simulated kubelet: what only the API server can
// tell, such as validation, ownership, refusals and rights.
package classruntime

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/kubelet"
	"github.com/statecraft-dev/statecraft/test/product"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	area = "runtime"
	poll = 50 * time.Millisecond
	// told is how soon what is visible in the API is in the status.
	toldWithin = 5 * time.Second
	canary     = "canary-7c9f"
)

// stage is a namespace with a simulated node, whose pods are ready unless the test says otherwise.
type stage struct {
	*testing.T
	client.Client
	bed       *bed.Bed
	manager   *product.Manager
	namespace string

	mu    sync.Mutex
	pods  map[string]corev1.PodStatus // of functions, by key; others are ready
	times map[string]int              // how often what pods of a key are was said
}

func newStage(t *testing.T) *stage {
	t.Helper()
	b := bedtest.ControlPlane(t)
	s := &stage{T: t, bed: b, manager: product.NewManager(t, b, area), Client: harness.Client(t, b, runtimev1.AddToScheme), namespace: bedtest.Namespace(t, b)}
	s.pods, s.times = map[string]corev1.PodStatus{}, map[string]int{}
	kubelet.Join(t, s.Client).Loop(t, func(ctx context.Context) {
		kubelet.Look(ctx, s.Client, s.namespace, runtimev1.ClassLabel, s.run)
	})
	return s
}

// become says what pods of a function are from now on.
func (s *stage) become(key string, status corev1.PodStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pods[key] = status
	s.times[key]++
}

// run says of a pod what the test wants it to be.
func (s *stage) run(pod *corev1.Pod) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := pod.Labels[runtimev1.FunctionLabel]
	mark := fmt.Sprintf("It is what the test said %d times.", s.times[key])
	if pod.Status.Message == mark || pod.Spec.NodeName == "" {
		return false
	}
	status, told := s.pods[key]
	if !told {
		status = ready()
	}
	scheduled := pod.Status.Conditions
	pod.Status = *status.DeepCopy()
	pod.Status.Message = mark
	for _, c := range scheduled {
		if c.Type == corev1.PodScheduled {
			pod.Status.Conditions = append(pod.Status.Conditions, c)
		}
	}
	return true
}

func ready() corev1.PodStatus {
	return corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: "10.0.0.1", PodIPs: []corev1.PodIP{{IP: "10.0.0.1"}},
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}},
	}
}

// crashing is a pod whose container was restarted so often, and is not ready.
func crashing(restarts int32) corev1.PodStatus {
	now := metav1.Now()
	return corev1.PodStatus{
		Phase:      corev1.PodRunning,
		Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: now}},
		ContainerStatuses: []corev1.ContainerStatus{{
			Name: runtimev1.FunctionContainer, RestartCount: restarts, Image: "add:1", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
			LastTerminationState: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, StartedAt: now, FinishedAt: now}},
		}},
	}
}

func function(key string, port int32) runtimev1.Function {
	f := runtimev1.Function{Key: key, Image: key + ":1", Env: []corev1.EnvVar{{Name: "SECRET", Value: canary}}}
	if port > 0 {
		f.Ports = []corev1.ContainerPort{{ContainerPort: port}}
	}
	return f
}

func (s *stage) newClass(functions ...runtimev1.Function) *runtimev1.ClassRuntime {
	return &runtimev1.ClassRuntime{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "cart"}, Spec: runtimev1.ClassRuntimeSpec{Functions: functions}}
}

func (s *stage) create(obj client.Object) {
	s.Helper()
	if err := s.Create(s.Context(), obj); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) remove(obj client.Object) {
	s.Helper()
	if err := s.Delete(s.Context(), obj); err != nil {
		s.Fatal(err)
	}
}

func (s *stage) class() *runtimev1.ClassRuntime {
	s.Helper()
	var c runtimev1.ClassRuntime
	if err := s.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: "cart"}, &c); err != nil {
		s.Fatal(err)
	}
	return &c
}

func (s *stage) edit(by func(*runtimev1.ClassRuntime)) {
	s.Helper()
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		c := s.class()
		by(c)
		return s.Update(s.Context(), c)
	})
}

func (s *stage) deployment(key string) *appsv1.Deployment {
	s.Helper()
	var d appsv1.Deployment
	if err := s.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: "cart-" + key}, &d); err != nil {
		s.Fatal(err)
	}
	return &d
}

// until waits for a condition, with a reason unless that is empty, of the spec as it is.
func (s *stage) until(condition string, status metav1.ConditionStatus, reason string) *runtimev1.ClassRuntime {
	s.Helper()
	harness.Eventually(s.T, timeout.Wait, poll, func() error { return s.is(condition, status, reason) })
	return s.class()
}

func (s *stage) is(condition string, status metav1.ConditionStatus, reason string) error {
	c := s.class()
	is := apimeta.FindStatusCondition(c.Status.Conditions, condition)
	if is == nil || is.Status != status || reason != "" && is.Reason != reason || c.Status.ObservedGeneration != c.Generation {
		words := fmt.Sprintf("%s is not %s %s: %s, %s", condition, status, reason, c.Status.Phase, c.Status.WaitingFor)
		for _, one := range c.Status.Conditions {
			words += fmt.Sprintf("\n  %s=%s %s %s", one.Type, one.Status, one.Reason, one.Message)
		}
		return fmt.Errorf("%s\n  %+v", words, c.Status.Functions)
	}
	return nil
}

// says fails if the status does not have these words.
func (s *stage) says(words string) {
	s.Helper()
	if c := s.class(); !strings.Contains(c.Status.WaitingFor, words) {
		s.Errorf("the status does not say %q: %s", words, c.Status.WaitingFor)
	}
}

// listening is a pod template whose function has a port.
func listening() *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Name: runtimev1.FunctionContainer, Ports: []corev1.ContainerPort{{ContainerPort: 8080}},
	}}}}
}

// file writes a manifest for kubectl.
func (s *stage) file(manifest string) string {
	s.Helper()
	path := filepath.Join(s.TempDir(), "manifest.json")
	if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
		s.Fatal(err)
	}
	return path
}

// writes are those of the manager in this namespace since a time, without events. Other tests may have left classes behind.
func (s *stage) writes(since time.Time) (here []bed.Write) {
	s.Helper()
	all, err := s.bed.Writes(since, harness.User(area))
	if err != nil {
		s.Fatal(err)
	}
	for _, w := range bed.WithoutElections(all) {
		if w.Namespace == s.namespace && w.Resource != "events" {
			here = append(here, w)
		}
	}
	return here
}

// quiet waits until the manager has written nothing for a second, and fails if it then writes anything.
func (s *stage) quiet(during time.Duration) {
	s.Helper()
	wroteSince := func(since time.Time) error {
		for _, w := range s.writes(since) {
			return fmt.Errorf("%s %s/%s: %+v", w.Verb, w.Resource, w.Subresource, s.class().Status)
		}
		return nil
	}
	harness.Eventually(s.T, timeout.Wait, poll, func() error { return wroteSince(time.Now().Add(-time.Second)) })
	began := time.Now()
	harness.Consistently(s.T, during, time.Second, func() error { return wroteSince(began) })
}
