package edge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/edge"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet/flightctl"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

const (
	program = "statecraft-edge-of-the-test" // the user that the program writes as
	poll    = 100 * time.Millisecond
	holds   = 6 * time.Second // longer than three sweeps of a pool with something on its way
)

// site is a pool of one device, and a program that serves it.
type site struct {
	*testing.T
	bed               *bed.Bed
	client            client.Client
	fleet             *flightctl.Client
	agent             *agent
	system, namespace string
	pool, node        string
	seen              []string // how far the pod was, one after the other
}

func newSite(t *testing.T) *site {
	t.Helper()
	server := control(t)
	b := bedtest.ControlPlane(t)
	bedtest.InstallCRDs(t, b, "../../../config/crd/edge")
	must(t, edgev1.AddToScheme(clientgoscheme.Scheme))
	c, err := client.New(b.Config(), client.Options{})
	must(t, err)
	s := &site{T: t, bed: b, client: c, fleet: asks(t, server), system: bedtest.Namespace(t, b), namespace: bedtest.Namespace(t, b)}
	s.pool = "pool-of-" + s.namespace
	token, err := server.Token(t.Context(), "edge")
	must(t, err)
	ca, err := server.CA()
	must(t, err)
	must(t, c.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.system, Name: "flightctl"}, Data: map[string][]byte{"token": []byte(token), "ca.crt": ca},
	}))
	s.agent = startAgent(t, enrolled(t, map[string]string{"pool": s.pool}))
	s.node = "edge-" + s.agent.Name
	s.serve()
	must(t, c.Create(t.Context(), &edgev1.EdgePool{
		ObjectMeta: metav1.ObjectMeta{Name: s.pool},
		Spec: edgev1.EdgePoolSpec{
			Server:  edgev1.FlightControl{URL: server.URL(), CredentialsSecret: "flightctl"},
			Devices: edgev1.DeviceSelection{MatchLabels: map[string]edgev1.LabelValue{"pool": edgev1.LabelValue(s.pool)}},
		},
	}))
	return s
}

// serve runs the area in this process.
func (s *site) serve() {
	s.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- kube.Run(ctx, s.bed.ConfigFor(program, "system:masters"), kube.Options{
			Areas: []kube.AreaSetup{edge.Area()}, Namespace: s.system, Election: kube.Election{Off: true}, MetricsAddress: "0", ProbeAddress: "0",
		})
	}()
	s.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			s.Errorf("program: %v", err)
		}
	})
}

// announced waits until the device is a Node that takes pods.
func (s *site) announced() *corev1.Node {
	s.Helper()
	n := &corev1.Node{}
	harness.Eventually(s, timeout.Wait, poll, func() error {
		if err := s.client.Get(s.Context(), client.ObjectKey{Name: s.node}, n); err != nil {
			return errors.Join(err, s.poolSays())
		}
		for _, c := range n.Status.Conditions {
			if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("it is not ready: %+v", n.Status.Conditions)
	})
	return n
}

func (s *site) poolSays() error {
	p := &edgev1.EdgePool{}
	if err := s.client.Get(s.Context(), client.ObjectKey{Name: s.pool}, p); err != nil {
		return err
	}
	return fmt.Errorf("pool in %s: %s", p.Status.Phase, p.Status.WaitingFor)
}

const manifest = `apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: %s
spec:
  terminationGracePeriodSeconds: 5
  nodeSelector: {edge.statecraft.dev/pool: %s}
  tolerations: [{key: edge.statecraft.dev/pool, operator: Exists}]
  containers:
  - name: web
    image: localhost/web:1
    imagePullPolicy: IfNotPresent
    env: [{name: SITE, value: north}]
    resources: {requests: {cpu: 500m, memory: 64Mi}}
`

// apply makes a pod as a person does; the scheduler binds it.
func (s *site) apply() *corev1.Pod {
	s.Helper()
	file := filepath.Join(s.TempDir(), "pod.yaml")
	must(s.T, os.WriteFile(file, fmt.Appendf(nil, manifest, s.namespace, s.pool), 0o600))
	harness.Eventually(s, timeout.Wait, poll, func() error { // the account of the namespace is made by another controller
		_, err := s.bed.Kubectl(s.Context(), "apply", "-f", file)
		return err
	})
	p := &corev1.Pod{}
	must(s.T, s.client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: "web"}, p))
	return p
}

// pod is the pod as it is; nil if it is gone.
func (s *site) pod(was *corev1.Pod) *corev1.Pod {
	s.Helper()
	p := &corev1.Pod{}
	err := s.client.Get(s.Context(), client.ObjectKeyFromObject(was), p)
	if apierrors.IsNotFound(err) || err == nil && p.UID != was.UID {
		return nil
	}
	must(s.T, err)
	if now := p.Annotations[edge.Progress]; len(s.seen) == 0 || s.seen[len(s.seen)-1] != now {
		s.seen = append(s.seen, now)
	}
	return p
}

func ready(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// has says whether the spec of the device has an application of the pod.
func (s *site) has(p *corev1.Pod) bool {
	s.Helper()
	d, err := s.fleet.Get(s.Context(), s.agent.Name)
	must(s.T, err)
	for _, e := range d.Applications {
		if strings.HasPrefix(e.Name, "sc-") && strings.HasSuffix(e.Name, "-"+string(p.UID)) {
			return true
		}
	}
	return false
}

// stays fails if something is not so for a while.
func (s *site) stays(what string, is func() bool) {
	s.Helper()
	harness.Consistently(s, holds, poll, func() error {
		if !is() {
			return fmt.Errorf("it does not stay so: %s", what)
		}
		return nil
	})
}

// comes waits until something is so.
func (s *site) comes(what string, p *corev1.Pod, is func() bool) {
	s.Helper()
	harness.Eventually(s, timeout.Wait, poll, func() error {
		if is() {
			return nil
		}
		if now := s.pod(p); now != nil {
			return fmt.Errorf("not %s: %s %s %+v; %s", what, now.Status.Phase, now.Status.Reason, now.Status.Conditions, now.Annotations[edge.Progress])
		}
		return fmt.Errorf("not %s: the pod is gone", what)
	})
}

// One pod on one device of a real server, from kubectl apply to its end. It is not Ready before the device says by the version
// that has it that its container runs, and its object stays until the device is known to have stopped it.
func TestAPodLivesOnADevice(t *testing.T) {
	s := newSite(t)
	n := s.announced()
	if cpu := n.Status.Allocatable.Cpu(); cpu.Value() != 4 || n.Labels[corev1.LabelHostname] != s.node || len(n.OwnerReferences) != 0 {
		t.Errorf("the Node has %s CPUs, labels %v, owners %v", cpu, n.Labels, n.OwnerReferences)
	}

	s.agent.told(func(a *agent) { a.applies = false })
	began := time.Now()
	p := s.apply()
	s.comes("in the spec of the device", p, func() bool { return s.has(p) })
	s.stays("a pod that its device has not applied is not Ready", func() bool { return !ready(s.pod(p)) })
	s.agent.told(func(a *agent) { a.applies, a.starts = true, false })
	s.comes("applied", p, func() bool { return s.agent.runs() == 1 })
	s.stays("a pod whose container has not started is not Ready", func() bool { return !ready(s.pod(p)) })
	s.agent.told(func(a *agent) { a.starts = true })
	s.comes("Ready", p, func() bool { return ready(s.pod(p)) })
	if now := s.pod(p); now.Status.Phase != corev1.PodRunning || len(now.Status.ContainerStatuses) != 1 || !now.Status.ContainerStatuses[0].Ready {
		t.Errorf("it is Ready, and %s with %+v", now.Status.Phase, now.Status.ContainerStatuses)
	}
	s.wrote("apply", began, map[string]int{"patch pods/status": 3})

	s.agent.told(func(a *agent) { a.applies = false })
	began = time.Now()
	must(t, s.client.Delete(t.Context(), p))
	s.comes("out of the spec", p, func() bool { return !s.has(p) })
	s.stays("a pod that its device still runs keeps its object", func() bool { return s.agent.runs() == 1 && s.pod(p) != nil })
	s.agent.told(func(a *agent) { a.applies = true })
	s.comes("gone", p, func() bool { return s.pod(p) == nil })
	if s.agent.runs() != 0 {
		t.Error("the pod's object went while its container ran")
	}
	s.wrote("delete", began, map[string]int{"patch pods/status": 1, "delete pods": 1})
	s.drained()
}

// wrote compares what the program has written of pods, as far as it was stored.
func (s *site) wrote(what string, since time.Time, want map[string]int) {
	s.Helper()
	writes, err := s.bed.Writes(since, program)
	must(s.T, err)
	var told strings.Builder
	var stored []bed.Write
	for _, w := range writes {
		if w.Resource != "pods" {
			continue
		}
		fmt.Fprintf(&told, "%s %s %s %d\n", w.Time.Format("15:04:05.000"), w.Verb, w.Subresource, w.Code)
		if w.Code < http.StatusMultipleChoices {
			stored = append(stored, w)
		}
	}
	if diff := cmp.Diff(want, bed.CountWrites(stored)); diff != "" {
		s.Errorf("%s (-want +got):\n%s\n%s\n%s", what, diff, &told, strings.Join(s.seen, "\n"))
	}
	s.seen = nil
}

// drained deletes the pool, and waits until it has gone with its Node and all that this cluster had on the device.
func (s *site) drained() {
	s.Helper()
	p := &edgev1.EdgePool{ObjectMeta: metav1.ObjectMeta{Name: s.pool}}
	must(s.T, s.client.Delete(s.Context(), p))
	harness.Eventually(s, timeout.Wait, poll, func() error {
		if err := s.client.Get(s.Context(), client.ObjectKeyFromObject(p), p); !apierrors.IsNotFound(err) {
			return errors.Join(err, s.poolSays())
		}
		return nil
	})
	if err := s.client.Get(s.Context(), client.ObjectKey{Name: s.node}, &corev1.Node{}); !apierrors.IsNotFound(err) {
		s.Errorf("the Node of a pool that has gone: %v", err)
	}
	d, err := s.fleet.Get(s.Context(), s.agent.Name)
	must(s.T, err)
	for _, e := range append(d.Applications, d.Config...) {
		if strings.HasPrefix(e.Name, "sc-") {
			s.Errorf("the device keeps %s", e.Name)
		}
	}
}
