package valkey

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
)

// What the node can run: servers of the version that the tag of an image names.
const (
	image       = "valkey/valkey:8.1.1"
	newerImage  = "valkey/valkey:9.1.2"
	brokenImage = "valkey/valkey:broken" // cannot be pulled
)

// idle are the pods that nobody has tried to run yet.
func idle(pods []*corev1.Pod) (waiting []*corev1.Pod) {
	for _, pod := range pods {
		if pod.Status.PodIP == "" && pod.DeletionTimestamp == nil && len(pod.Status.ContainerStatuses) == 0 {
			waiting = append(waiting, pod)
		}
	}
	return waiting
}

// stopping are the pods that were deleted.
func stopping(pods []*corev1.Pod) (gone []*corev1.Pod) {
	for _, pod := range pods {
		if pod.DeletionTimestamp != nil {
			gone = append(gone, pod)
		}
	}
	return gone
}

// stop ends the servers of deleted pods, which are gone then.
func (k *kubelet) stop(ctx context.Context) error {
	k.write()
	for _, pod := range stopping(k.pods) {
		addr := addrOf(pod)
		if server, err := k.servers.Ask(ctx, addr); err == nil {
			k.gone[addr] = server.ID
		}
		k.servers.Kill(addr)
		delete(k.running, addr)
		if err := k.world.Client.Delete(ctx, pod.DeepCopy(), client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// start runs a server in each pod, if its image can be had.
func (k *kubelet) start(ctx context.Context, pods []*corev1.Pod) error {
	for _, pod := range pods {
		pod = pod.DeepCopy()
		if imageOf(pod) == brokenImage {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: spec.ServerContainer, Image: brokenImage,
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}},
			}}
		} else {
			k.run(pod)
		}
		if err := k.world.Client.Status().Update(ctx, pod); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	k.stirred.Store(true)
	k.write()
	return k.await(ctx)
}

func (k *kubelet) run(pod *corev1.Pod) {
	k.created++
	ip := fmt.Sprintf("10.0.0.%d", k.created)
	pod.Status.Phase, pod.Status.PodIP = corev1.PodRunning, ip
	pod.Status.PodIPs = []corev1.PodIP{{IP: ip}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	_, version, _ := strings.Cut(imageOf(pod), ":")
	k.servers.Start(addrOf(pod), version)
	k.servers.Bear(addrOf(pod), spec.MarkOf(pod))
	k.running[addrOf(pod)] = pod.Name
}

func addrOf(pod *corev1.Pod) string { return pod.Status.PodIP + ":6379" }

func imageOf(pod *corev1.Pod) string {
	for _, c := range pod.Spec.Containers {
		if c.Name == spec.ServerContainer {
			return c.Image
		}
	}
	return ""
}
