// Package classruntime tests area runtime on a real node.
package classruntime

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	runtimev1 "github.com/statecraft-dev/statecraft/api/runtime/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed/images"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

func TestMain(m *testing.M) { harness.Main(m) }

const (
	area = "runtime"
	port = 8080
	poll = 100 * time.Millisecond
	// serviceWithin is how long a Service may refuse after its pod is ready: the node learns of the pod a moment later.
	serviceWithin = 2 * time.Second
	// toldWithin is how soon what is visible in the API is in the status.
	toldWithin = 5 * time.Second
)

// stage is a node with the image of a function.
type stage struct{ *product.Stage }

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{product.NewStage(t, product.StageOptions{Area: area, Nodes: 1, Images: []string{images.Pause, images.Function, images.Busybox}})}
	s.Manager.Start()
	return s
}

// function is one that answers what it is called.
func function(key string, replicas int32, args ...string) runtimev1.Function {
	return runtimev1.Function{
		Key: key, Image: images.Function, Args: append([]string{"-says=" + key}, args...), Replicas: &replicas,
		Ports: []corev1.ContainerPort{{ContainerPort: port}},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromInt32(port)}},
			PeriodSeconds: 1, FailureThreshold: 1,
		},
		PodTemplate: &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: ptr.To[int64](1),
			Containers:                    []corev1.Container{{Name: runtimev1.FunctionContainer, ImagePullPolicy: corev1.PullNever}},
		}},
	}
}

func newClass(name string, functions ...runtimev1.Function) *runtimev1.ClassRuntime {
	return &runtimev1.ClassRuntime{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: runtimev1.ClassRuntimeSpec{Functions: functions}}
}

func (s *stage) class(name string) *runtimev1.ClassRuntime {
	s.T.Helper()
	var c runtimev1.ClassRuntime
	if err := s.Client.Get(s.T.Context(), client.ObjectKey{Namespace: s.Namespace, Name: name}, &c); err != nil {
		s.T.Fatal(err)
	}
	return &c
}

// edit changes the spec of a class, or what the test says of it.
func (s *stage) edit(name string, by func(*runtimev1.ClassRuntime)) {
	s.T.Helper()
	harness.Eventually(s.T, timeout.Wait, poll, func() error {
		c := s.class(name)
		by(c)
		return s.Client.Update(s.T.Context(), c)
	})
}

// awaitReady waits as a user does.
func (s *stage) awaitReady(name string) {
	s.T.Helper()
	if out, err := s.Bed.Kubectl(s.T.Context(), "wait", "-n", s.Namespace, "--for=condition=Ready", "crt/"+name, "--timeout=120s"); err != nil {
		s.T.Fatalf("%v\n%s\n%s", err, out, s.told(name))
	}
}

// told is all that the status says.
func (s *stage) told(name string) string {
	c := s.class(name)
	words := fmt.Sprintf("%s, %s: %s", c.Status.Phase, c.Status.Reason, c.Status.WaitingFor)
	for _, one := range c.Status.Conditions {
		words += fmt.Sprintf("\n  %s=%s %s %s", one.Type, one.Status, one.Reason, one.Message)
	}
	for _, f := range c.Status.Functions {
		words += fmt.Sprintf("\n  %s: ready %t, %d/%d, %s %s", f.Key, f.Ready, f.Replicas.Ready, f.Replicas.Desired, f.Reason, f.Message)
	}
	return words
}

// is says nil if a condition has this status and, unless it is empty, this reason.
func (s *stage) is(name, condition string, status metav1.ConditionStatus, reason string) error {
	c := apimeta.FindStatusCondition(s.class(name).Status.Conditions, condition)
	if c == nil || c.Status != status || reason != "" && c.Reason != reason {
		return fmt.Errorf("%s is not %s %s: %s", condition, status, reason, s.told(name))
	}
	return nil
}

// pods are those of a function that are not leaving.
func (s *stage) pods(class, key string) (pods []corev1.Pod) {
	s.T.Helper()
	var list corev1.PodList
	if err := s.Client.List(s.T.Context(), &list, client.InNamespace(s.Namespace), client.MatchingLabels{runtimev1.ClassLabel: class, runtimev1.FunctionLabel: key}); err != nil {
		s.T.Fatal(err)
	}
	for _, p := range list.Items {
		if p.DeletionTimestamp == nil {
			pods = append(pods, p)
		}
	}
	return pods
}

// answers says nil if a pod answers at its own address at once.
func (s *stage) answers(p corev1.Pod, want string) error {
	c := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := c.Get("http://" + net.JoinHostPort(p.Status.PodIP, fmt.Sprint(port)))
	if err != nil {
		return fmt.Errorf("ask pod %s: %w", p.Name, err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || strings.TrimSpace(string(text)) != want {
		return fmt.Errorf("pod %s says %q, %w", p.Name, text, err)
	}
	return nil
}

// tell switches what a pod does.
func (s *stage) tell(p corev1.Pod, to string) {
	s.T.Helper()
	answer, err := http.Post("http://"+net.JoinHostPort(p.Status.PodIP, fmt.Sprint(port))+"/switch/"+to, "", nil)
	if err == nil {
		_ = answer.Body.Close()
	}
	if err != nil && to != "crash" {
		s.T.Fatal(err)
	}
}
