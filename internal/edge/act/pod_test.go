package act

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/statecraft-dev/statecraft/internal/edge/entry"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet/fleetfake"
	"github.com/statecraft-dev/statecraft/internal/edge/pod"
	"github.com/statecraft-dev/statecraft/internal/edge/spec"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

const image = "imagehub.example.com/web:1"

// stage is a pod, its device, and the effects on both.
type stage struct {
	server *fleetfake.Server
	client client.Client
	pod    *pod.Pod
	act    Pod
	built  int // how often the pod was converted
}

func newStage(t *testing.T) *stage {
	t.Helper()
	object := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "5f2c1f4e-7d5e-4b8e-9d51-3c9a5b7d1e02"},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyAlways, NodeName: "edge-pump",
			Containers: []corev1.Container{{Name: "web", Image: image, ImagePullPolicy: corev1.PullIfNotPresent}},
		},
	}
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(object).Build()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	s := &stage{server: fleetfake.New("pump"), client: c, pod: pod.Of(object)}
	s.act = Pod{Cluster: cluster, Writer: kube.Env{Client: c, Live: c}.Writer("edge"), Site: func(context.Context, *pod.Pod) (Site, error) {
		return Site{Devices: s.server, Device: "pump", Build: func(context.Context) (spec.Conversion, error) {
			s.built++
			return spec.Build(object, cluster, spec.Sources{}), nil
		}}, nil
	}}
	return s
}

func (s *stage) name() string { return entry.Cluster(cluster).Of(s.pod.UID) }

func (s *stage) has(t *testing.T) bool {
	t.Helper()
	now, err := s.server.Get(t.Context(), "pump")
	if err != nil {
		t.Fatal(err)
	}
	return fleet.Has(now.Applications, s.name())
}

func TestAPodIsSentAndRemoved(t *testing.T) {
	s := newStage(t)
	for _, e := range []fsm.Effect{pod.Send{Application: s.name(), Image: image}, pod.Send{Application: s.name(), Image: image}} {
		if _, err := s.act.Act(t.Context(), s.pod, e); err != nil || !s.has(t) || s.server.Edits != 1 {
			t.Fatalf("%s: %d edits, %v", e, s.server.Edits, err)
		}
	}
	for range 2 {
		if _, err := s.act.Act(t.Context(), s.pod, pod.Remove{Application: s.name(), At: 7}); err != nil || s.has(t) {
			t.Fatal(err)
		}
	}
	built := s.built
	if _, err := s.act.Act(t.Context(), s.pod, pod.Nudge{At: 8}); err != nil || s.built != built {
		t.Errorf("%v; its ConfigMaps and Secrets are read for what does not send it", err)
	}
}

func TestADeviceOfAFleetIsNotEdited(t *testing.T) {
	s := newStage(t)
	s.server.Replace("pump", "Fleet/pumps", `{}`)
	_, err := s.act.Act(t.Context(), s.pod, pod.Send{Application: s.name(), Image: image})
	if owned := new(fleet.Owned); !errors.As(err, &owned) || fsm.ClassOf(err) != fsm.Changed || s.server.Edits != 0 {
		t.Errorf("%v", err)
	}
}

// The object goes in the version for which its end was seen, and Flight Control is not asked again.
func TestAPodIsReleased(t *testing.T) {
	s := newStage(t)
	s.server.Down = true
	release := pod.Release{UID: s.pod.UID, ResourceVersion: s.pod.ResourceVersion, Seen: "it is gone"}
	if _, err := s.act.Act(t.Context(), s.pod, pod.Release{UID: s.pod.UID}); fsm.ClassOf(err) != fsm.Refused {
		t.Errorf("without the version: %v", err)
	}
	if _, err := s.act.Act(t.Context(), s.pod, release); err != nil {
		t.Fatal(err)
	}
	if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(s.pod.Carrier()), &corev1.Pod{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("it is there: %v", err)
	}
	if _, err := s.act.Act(t.Context(), s.pod, release); err != nil {
		t.Errorf("again: %v", err)
	}
	if _, err := s.act.Act(t.Context(), s.pod, pod.Nudge{At: 8}); fsm.ClassOf(err) != fsm.Transient {
		t.Errorf("a server that is down: %v", err)
	}
}
