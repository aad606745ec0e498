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
func idle(pods []corev1.Pod) (waiting []*corev1.Pod) {
	for i := range pods {
		if pods[i].Status.PodIP == "" && pods[i].DeletionTimestamp == nil && len(pods[i].Status.ContainerStatuses) == 0 {
			waiting = append(waiting, &pods[i])
		}
	}
	return waiting
}

// stopping are the pods that were deleted.
func stopping(pods []corev1.Pod) (gone []*corev1.Pod) {
	for i := range pods {
		if pods[i].DeletionTimestamp != nil {
			gone = append(gone, &pods[i])
		}
	}
	return gone
}

// stop ends the servers of deleted pods, which are gone then.
func (k *kubelet) stop(ctx context.Context) error {
	k.write()
	for _, pod := range stopping(k.pods) {
		if addr := pod.Status.PodIP + ":6379"; pod.Status.PodIP != "" {
			if server, err := k.servers.Ask(ctx, addr); err == nil {
				k.gone[addr] = server.ID
			}
			k.servers.Stop(addr)
		}
		if err := k.world.Client.Delete(ctx, pod, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	_, err := k.world.Sync(ctx, statefulSetKind, podKind)
	return err
}

// start runs a server in each pod, if its image can be had.
func (k *kubelet) start(ctx context.Context, pods []*corev1.Pod) error {
	for _, pod := range pods {
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
	k.born++
	ip := fmt.Sprintf("10.0.0.%d", k.born)
	pod.Status.Phase, pod.Status.PodIP = corev1.PodRunning, ip
	pod.Status.PodIPs = []corev1.PodIP{{IP: ip}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	_, version, _ := strings.Cut(imageOf(pod), ":")
	k.servers.Start(ip+":6379", version)
}

func imageOf(pod *corev1.Pod) string {
	for _, c := range pod.Spec.Containers {
		if c.Name == spec.ServerContainer {
			return c.Image
		}
	}
	return ""
}
