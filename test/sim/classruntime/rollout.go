package classruntime

import (
	"context"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/test/sim"
)

// startTakes is how long a pod takes to be ready, by the plan's clock.
const startTakes = 2 * time.Second

func newRollout(w *sim.World) *rollout { return &rollout{world: w, due: map[string]time.Time{}} }

// rollout plays the controller of Deployments, that of ReplicaSets, and the kubelet: as many pods for each Deployment as it
// asks for, which are replaced by those of the new template once these are ready.
type rollout struct {
	world  *sim.World
	due    map[string]time.Time // when new pods of a Deployment are ready
	looked int                  // the version of the world in which there was nothing to do
}

// meanwhile does one thing for one Deployment.
func (r *rollout) meanwhile(ctx context.Context) (changed bool, next time.Time, err error) {
	if len(r.due) == 0 && r.looked == r.world.Version() {
		return false, next, nil
	}
	for _, obj := range r.world.Shown(deploymentKind) {
		d := obj.(*appsv1.Deployment)
		if d.DeletionTimestamp != nil || !r.owned(d) {
			continue
		}
		switch changed, next, err = r.step(ctx, d.DeepCopy()); {
		case changed || err != nil:
			return changed, time.Time{}, err
		case !next.IsZero():
			return false, next, nil
		}
	}
	r.looked = r.world.Version()
	return false, time.Time{}, nil
}

// owned says that the class of a Deployment exists: garbage collection takes those of which it does not.
func (r *rollout) owned(d *appsv1.Deployment) bool {
	for _, obj := range r.world.All(classKind) {
		if child.OwnedBy(d, obj.GetUID()) && obj.GetDeletionTimestamp() == nil {
			return true
		}
	}
	return false
}

func (r *rollout) step(ctx context.Context, d *appsv1.Deployment) (changed bool, next time.Time, err error) {
	set := r.set(d)
	if set == nil {
		return true, next, r.world.Client.Create(ctx, newSet(d))
	}
	n := *d.Spec.Replicas
	for i := range n {
		pod := r.pod(set, i)
		if pod == nil {
			return true, next, r.world.Client.Create(ctx, newPod(d, set, i))
		}
		if len(pod.Status.Conditions) > 0 {
			continue
		}
		due, begun := r.due[d.Name]
		if !begun {
			due = r.world.Now().Add(startTakes)
			r.due[d.Name] = due
		}
		if r.world.Now().Before(due) {
			return false, due, nil
		}
		return true, next, r.start(ctx, pod.DeepCopy())
	}
	delete(r.due, d.Name)
	if old := r.old(d, n); old != nil {
		return true, next, client.IgnoreNotFound(r.world.Client.Delete(ctx, old, client.GracePeriodSeconds(0)))
	}
	want := appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n}
	if s := d.Status; s.ObservedGeneration == want.ObservedGeneration && s.ReadyReplicas == n {
		return false, next, nil
	}
	d.Status = want
	return true, next, r.world.Client.Status().Update(ctx, d)
}

// start lets a pod be ready.
func (r *rollout) start(ctx context.Context, pod *corev1.Pod) error {
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(r.world.Now().Truncate(time.Second))}}
	return r.world.Client.Status().Update(ctx, pod)
}

// template names the pods of a Deployment as it is.
func template(d *appsv1.Deployment) string { return child.Hash(d.Spec.Template)[:8] }

func setName(d *appsv1.Deployment) string { return d.Name + "-" + template(d) }

func newSet(d *appsv1.Deployment) *appsv1.ReplicaSet {
	labels := map[string]string{"pod-template-hash": template(d)}
	for k, v := range d.Spec.Template.Labels {
		labels[k] = v
	}
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: setName(d), Labels: labels}}
	set.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(d, deploymentKind)}
	set.Spec = appsv1.ReplicaSetSpec{Replicas: d.Spec.Replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: *d.Spec.Template.DeepCopy()}
	set.Spec.Template.Labels = labels
	return set
}

// newPod is a pod that no scheduler looks at, so that it is gone as soon as it is deleted.
func newPod(d *appsv1.Deployment, set *appsv1.ReplicaSet, i int32) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: podName(set, i), Labels: set.Spec.Template.Labels}, Spec: *set.Spec.Template.Spec.DeepCopy()}
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, replicaSetKind)}
	pod.Spec.SchedulerName = "nobody"
	pod.Spec.AutomountServiceAccountToken = new(bool) // its volume would have another name in every plan
	return pod
}

func (r *rollout) set(d *appsv1.Deployment) *appsv1.ReplicaSet {
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: setName(d)}}
	if !r.world.Find(set) || !child.OwnedBy(set, d.UID) {
		return nil
	}
	return set
}

func podName(set *appsv1.ReplicaSet, i int32) string { return fmt.Sprintf("%s-%d", set.Name, i) }

// pod is one of a ReplicaSet; nil if it does not exist.
func (r *rollout) pod(set *appsv1.ReplicaSet, i int32) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, Name: podName(set, i)}}
	if !r.world.Find(pod) || !child.OwnedBy(pod, set.UID) {
		return nil
	}
	return pod
}

// running is how many pods of a Deployment as it is are ready.
func (r *rollout) running(d *appsv1.Deployment) (n int32) {
	set := r.set(d)
	if set == nil {
		return 0
	}
	for i := range *d.Spec.Replicas {
		if pod := r.pod(set, i); pod != nil && len(pod.Status.Conditions) > 0 {
			n++
		}
	}
	return n
}

// old is a pod that is too much or of a template that the Deployment had before, and then a ReplicaSet of such a one.
func (r *rollout) old(d *appsv1.Deployment, n int32) client.Object {
	for _, obj := range r.world.Shown(replicaSetKind) {
		set := obj.(*appsv1.ReplicaSet)
		if !child.OwnedBy(set, d.UID) {
			continue
		}
		current := set.Name == setName(d)
		for _, obj := range r.world.Shown(podKind) {
			pod := obj.(*corev1.Pod)
			if child.OwnedBy(pod, set.UID) && (!current || !slices.Contains(names(set, n), pod.Name)) {
				return pod.DeepCopy()
			}
		}
		if !current {
			return set.DeepCopy()
		}
	}
	return nil
}

// names are those of the pods that a ReplicaSet should have.
func names(set *appsv1.ReplicaSet, n int32) (all []string) {
	for i := range n {
		all = append(all, podName(set, i))
	}
	return all
}
