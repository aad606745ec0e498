package observe

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/podstate"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// The StatefulSets that exist are the record of a formed cluster, not its spec.
func TestRecorded(t *testing.T) {
	set := func(replicas int32) *appsv1.StatefulSet {
		return &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: ptr.To(replicas)}}
	}
	for name, c := range map[string]struct {
		spec, status int32
		replicas     int32
		exist        map[string]*appsv1.StatefulSet
		want         cluster.Shape
	}{
		"as the spec has it":          {3, 3, 1, map[string]*appsv1.StatefulSet{"web-0": set(2), "web-1": set(2), "web-2": set(2)}, cluster.Even(3, 1)},
		"more are wanted than exist":  {5, 3, 1, map[string]*appsv1.StatefulSet{"web-0": set(2), "web-1": set(2), "web-2": set(2)}, cluster.Even(3, 1)},
		"fewer are wanted than exist": {3, 4, 1, map[string]*appsv1.StatefulSet{"web-0": set(2), "web-1": set(2), "web-2": set(2), "web-3": set(2)}, cluster.Even(4, 1)},
		"more replicas are wanted":    {3, 3, 2, map[string]*appsv1.StatefulSet{"web-0": set(2), "web-1": set(2), "web-2": set(2)}, cluster.Even(3, 1)},
		"one in the middle is lost":   {3, 3, 1, map[string]*appsv1.StatefulSet{"web-0": set(2), "web-2": set(2)}, cluster.Even(3, 1)},
		"the last is lost":            {3, 3, 1, map[string]*appsv1.StatefulSet{"web-0": set(2), "web-1": set(2)}, cluster.Even(3, 1)},
		"all are lost":                {3, 3, 1, nil, cluster.Even(3, 1)},
		"the status is lost as well":  {3, 0, 1, map[string]*appsv1.StatefulSet{"web-0": set(2), "web-1": set(2), "web-2": set(2)}, cluster.Even(3, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			vkc := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Name: "web"},
				Spec:   valkeyv1.ValkeyClusterSpec{Masters: c.spec, ReplicasPerMaster: &c.replicas},
				Status: valkeyv1.ValkeyClusterStatus{Masters: c.status}}
			if got := recorded(vkc, c.exist); !slices.Equal(got, c.want) {
				t.Errorf("recorded %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestPodFacts(t *testing.T) {
	waiting := func(reason string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "valkey", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
	}
	over, dataMissing := &corev1.ContainerStateTerminated{}, &corev1.ContainerStateTerminated{ExitCode: topology.ExitDataMissing}
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue}
	for name, c := range map[string]struct {
		status corev1.PodStatus
		going  bool
		want   topology.Pod
	}{
		"just made":             {corev1.PodStatus{Phase: corev1.PodPending}, false, topology.Pod{NeverRan: true}},
		"on the way":            {corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{waiting("ContainerCreating")}}, false, topology.Pod{NeverRan: true}},
		"without a node":        {corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable"}}}, false, topology.Pod{NeverRan: true, Trouble: podstate.Trouble{Reason: "Unschedulable"}}},
		"without image":         {corev1.PodStatus{Phase: corev1.PodPending, PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{waiting("ImagePullBackOff")}}, false, topology.Pod{NeverRan: true, Trouble: podstate.Trouble{Reason: "ImagePullBackOff"}}},
		"runs":                  {corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"}, false, topology.Pod{Addr: "10.0.0.1:6379"}},
		"is ready":              {corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", Conditions: []corev1.PodCondition{ready}}, false, topology.Pod{Addr: "10.0.0.1:6379", Ready: true}},
		"is going":              {corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", Conditions: []corev1.PodCondition{ready}}, true, topology.Pod{Addr: "10.0.0.1:6379", Leaving: true}},
		"has IPv6":              {corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "fd00::1"}, false, topology.Pod{Addr: "[fd00::1]:6379"}},
		"keeps crashing":        {corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{{Name: "valkey", RestartCount: 2, State: waiting("CrashLoopBackOff").State}}}, false, topology.Pod{Addr: "10.0.0.1:6379", Trouble: podstate.Trouble{Reason: "CrashLoopBackOff"}}},
		"has ended":             {corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{{Name: "valkey", State: corev1.ContainerState{Terminated: over}}}}, false, topology.Pod{Addr: "10.0.0.1:6379", Ended: true}},
		"has lost what it had":  {corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{{Name: "valkey", State: waiting("CrashLoopBackOff").State, LastTerminationState: corev1.ContainerState{Terminated: dataMissing}}}}, false, topology.Pod{Addr: "10.0.0.1:6379", Trouble: podstate.Trouble{Reason: "CrashLoopBackOff"}, Ended: true, DataMissing: true}},
		"had lost it once":      {corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{{Name: "valkey", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, LastTerminationState: corev1.ContainerState{Terminated: dataMissing}}}}, false, topology.Pod{Addr: "10.0.0.1:6379"}},
		"waits to be restarted": {corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{{Name: "valkey", RestartCount: 1, State: waiting("CrashLoopBackOff").State, LastTerminationState: corev1.ContainerState{Terminated: over}}}}, false, topology.Pod{Addr: "10.0.0.1:6379", Trouble: podstate.Trouble{Reason: "CrashLoopBackOff"}, Ended: true}},
		"was restarted":         {corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1", ContainerStatuses: []corev1.ContainerStatus{{Name: "valkey", RestartCount: 1, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, LastTerminationState: corev1.ContainerState{Terminated: over}}}}, false, topology.Pod{Addr: "10.0.0.1:6379"}},
		"ran and is over":       {corev1.PodStatus{Phase: corev1.PodFailed, PodIP: "10.0.0.1"}, false, topology.Pod{Trouble: podstate.Trouble{Reason: "Failed", MayRun: true}}},
		"without node program":  {corev1.PodStatus{Phase: corev1.PodPending, InitContainerStatuses: []corev1.ContainerStatus{waiting("ErrImagePull")}, ContainerStatuses: []corev1.ContainerStatus{waiting("PodInitializing")}}, false, topology.Pod{NeverRan: true, Trouble: podstate.Trouble{Reason: "ImagePullBackOff"}}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &corev1.Pod{Status: c.status}
			if c.going {
				p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1_700_000_000, 0)}
			}
			if diff := cmp.Diff(c.want, podFacts(topology.Pod{}, p), cmpopts.IgnoreFields(podstate.Trouble{}, "Words")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// revision answers every read with a StatefulSet whose pods are to be of this revision.
type revision string

func (r revision) Get(_ context.Context, _ read.Key, obj client.Object, _ ...client.GetOption) error {
	obj.(*appsv1.StatefulSet).UID, obj.(*appsv1.StatefulSet).Status.UpdateRevision = "shard", string(r)
	return nil
}

func (revision) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

// A cache that knows a pod, and not yet the revision that made it, is no reason to
// delete the pod.
func TestOutdated(t *testing.T) {
	for name, c := range map[string]struct {
		cached, live string
		ran, want    bool
	}{
		"as it should be":                        {"new", "new", false, false},
		"the cache is behind":                    {"old", "new", false, false},
		"the cache has no revision yet":          {"", "new", false, false},
		"made by an older template":              {"newer", "newer", false, true},
		"it runs: nobody deletes it for that":    {"newer", "new", true, true},
		"it runs, and the cache has no revision": {"", "new", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodPending}}
			pod.Labels = map[string]string{appsv1.ControllerRevisionHashLabelKey: "new"}
			if c.ran {
				pod.Status.Phase = corev1.PodRunning
			}
			cached := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{UID: "shard"}, Status: appsv1.StatefulSetStatus{UpdateRevision: c.cached}}
			o := Cluster{Live: read.Live{Reader: revision(c.live)}}
			if got, err := o.outdated(t.Context(), pod, cached); err != nil || got != c.want {
				t.Errorf("outdated %t, %v, want %t", got, err, c.want)
			}
		})
	}
}

func TestEvery(t *testing.T) {
	for name, c := range map[string]struct {
		phase   fsm.Phase
		servers int
		want    time.Duration
	}{
		"a small one that is made":     {cluster.InitializingCluster, 6, 100 * time.Millisecond},
		"a large one that is made":     {cluster.InitializingCluster, 1500, 4600 * time.Millisecond},
		"one that runs":                {cluster.Running, 6, 10 * time.Second},
		"one that is being deleted":    {cluster.Deleting, 6, 0},
		"one whose children are made":  {cluster.Pending, 6, 10 * time.Second},
		"one whose pods are to answer": {cluster.WaitingForPods, 6, 100 * time.Millisecond},
	} {
		if got := Every(c.phase, c.servers); got != c.want {
			t.Errorf("%s: every %s, want %s", name, got, c.want)
		}
	}
}
