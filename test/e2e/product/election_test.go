package product

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// election is what was seen of the leader of an area.
type election struct {
	area string

	mu        sync.Mutex
	holder    string
	renewed   time.Time
	longest   time.Duration // between two signs of a leader
	handOvers []handOver
}

// handOver is a change of leaders, and what was under way.
type handOver struct {
	to    string // the pod that leads
	phase meta.Phase
	err   error
}

// watchLeader looks at the election of an area until the test ends. At each change of leaders it looks at a cluster, too.
func (s *stage) watchLeader(area string, vkc *valkeyv1.ValkeyCluster) *election {
	e := &election{area: area}
	key := client.ObjectKeyFromObject(vkc)
	ctx, cancel := context.WithCancel(s.Context())
	var looks sync.WaitGroup
	looks.Go(func() {
		for tick := time.Tick(100 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick:
			}
			var lease coordinationv1.Lease
			err := s.client.Get(ctx, client.ObjectKey{Namespace: s.system, Name: "statecraft-" + area}, &lease)
			if err != nil || !e.note(lease.Spec) {
				continue
			}
			var is valkeyv1.ValkeyCluster
			err = s.client.Get(ctx, key, &is)
			e.changed(is.Status.Phase, err)
		}
	})
	s.Cleanup(func() { cancel(); looks.Wait() })
	return e
}

// note takes a look into account, and says whether another leads. A Lease that was given back has no holder.
func (e *election) note(lease coordinationv1.LeaseSpec) (another bool) {
	holder := ptr.Deref(lease.HolderIdentity, "")
	if holder == "" || lease.RenewTime == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.holder != "" {
		e.longest = max(e.longest, lease.RenewTime.Sub(e.renewed))
		another = holder != e.holder
	}
	e.holder, e.renewed = holder, lease.RenewTime.Time
	return another
}

func (e *election) changed(phase meta.Phase, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	pod, _, _ := strings.Cut(e.holder, "_") // an identity is the pod's name and a random part
	e.handOvers = append(e.handOvers, handOver{pod, phase, err})
}

// released waits until a manager leads that is of the version which its Deployment has now, and returns how it came to that.
func (s *stage) released(e *election) (last handOver, longest time.Duration) {
	s.Helper()
	harness.Eventually(s, within, poll, func() error {
		e.mu.Lock()
		defer e.mu.Unlock()
		if len(e.handOvers) == 0 {
			return fmt.Errorf("area %s: %s still leads", e.area, e.holder)
		}
		last, longest = e.handOvers[len(e.handOvers)-1], e.longest
		return s.isReleased(e.area, last.to)
	})
	return last, longest
}

// isReleased is nil if a pod has the image that the Deployment of its area has now.
func (s *stage) isReleased(area, name string) error {
	var pod corev1.Pod
	if err := s.client.Get(s.Context(), client.ObjectKey{Namespace: s.system, Name: name}, &pod); err != nil {
		return err
	}
	if is, want := pod.Spec.Containers[0].Image, s.managerImage(area); is != want {
		return fmt.Errorf("area %s: the leader %s is %s, not %s", area, name, is, want)
	}
	return nil
}

func (s *stage) managerImage(area string) string {
	s.Helper()
	var deployment appsv1.Deployment
	if err := s.client.Get(s.Context(), client.ObjectKey{Namespace: s.system, Name: "statecraft-" + area}, &deployment); err != nil {
		s.Fatal(err)
	}
	return deployment.Spec.Template.Spec.Containers[0].Image
}
