package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/policy"
)

// Packs reads the policy pack: the ConfigMaps of the product's namespace that are labelled as parts of it.
type Packs struct {
	Live      read.Live
	Namespace string
}

// Read reads the pack of this moment, live: a policy that was made stricter holds at once.
func (p Packs) Read(ctx context.Context) (policy.Pack, error) {
	var list corev1.ConfigMapList
	if err := p.Live.List(ctx, &list, read.InNamespace(p.Namespace), read.Labels{remediationv1.PolicyLabel: "true"}); err != nil {
		return policy.Pack{}, fmt.Errorf("read policy pack: %w", err)
	}
	texts := map[string]string{}
	for _, cm := range list.Items {
		for name, text := range cm.Data {
			texts[cm.Name+"/"+name] = text
		}
	}
	return policy.NewPack(texts), nil
}
