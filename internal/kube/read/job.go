package read

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/statecraft-dev/statecraft/internal/child"
)

// JobSight is whose Job has a name.
type JobSight string

// The sights of a Job.
const (
	JobGone  JobSight = "Gone" // nobody's: a live read says so
	JobOurs  JobSight = "Ours"
	JobTaken JobSight = "Taken" // somebody else's
)

// FindJob reads the Job of a name, and asks whether it is ours. Names are used again: whether
// it is the very Job that was made, its UID tells.
func (l Live) FindJob(ctx context.Context, key Key, ours func(*batchv1.Job) bool) (*batchv1.Job, JobSight, error) {
	var job batchv1.Job
	switch err := l.Get(ctx, key, &job); {
	case SaysGone(err, key.Name):
		return nil, JobGone, nil
	case err != nil:
		return nil, "", fmt.Errorf("read job %s: %w", key.Name, err)
	case !ours(&job):
		return &job, JobTaken, nil
	}
	return &job, JobOurs, nil
}

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
