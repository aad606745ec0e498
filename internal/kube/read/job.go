package read

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/child"
)

// PodsOf lists the pods that a Job made, with or without the finalizer of its tracking. That
// none is found proves nothing: somebody may have taken the label away.
func (l Live) PodsOf(ctx context.Context, job *batchv1.Job) ([]corev1.Pod, error) {
	var list corev1.PodList
	if err := l.List(ctx, &list, InNamespace(job.Namespace), Labels{batchv1.ControllerUidLabel: string(job.UID)}); err != nil {
		return nil, fmt.Errorf("list pods of job %s: %w", job.Name, err)
	}
	var pods []corev1.Pod
	for i := range list.Items {
		if child.OwnedBy(&list.Items[i], job.UID) {
			pods = append(pods, list.Items[i])
		}
	}
	return pods, nil
}
