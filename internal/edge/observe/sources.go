package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/statecraft-dev/statecraft/internal/edge/spec"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Sources reads the ConfigMaps that a pod needs. Secrets are not read: nothing delivers them yet, and a pod that needs one is refused.
func Sources(ctx context.Context, live read.Live, p *corev1.Pod) (spec.Sources, error) {
	names, _ := spec.Needs(p)
	from := spec.Sources{ConfigMaps: map[string]*corev1.ConfigMap{}}
	for _, name := range names {
		found := &corev1.ConfigMap{}
		err := live.Get(ctx, read.Key{Namespace: p.Namespace, Name: name}, found)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return spec.Sources{}, fmt.Errorf("read ConfigMap %s/%s: %w", p.Namespace, name, err)
		}
		from.ConfigMaps[name] = found
	}
	return from, nil
}
