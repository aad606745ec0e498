package observe

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
	"github.com/statecraft-dev/statecraft/internal/valkey/topology"
)

// access looks at the Secrets that pods will need. They are read live: Secrets of all the
// cluster are nothing to keep in memory.
func (o Cluster) access(ctx context.Context, c *valkeyv1.ValkeyCluster) (cluster.Access, error) {
	a, err := o.secrets(ctx, c)
	if apierrors.IsForbidden(err) {
		return cluster.Access{Forbidden: true}, nil
	}
	return a, err
}

func (o Cluster) secrets(ctx context.Context, c *valkeyv1.ValkeyCluster) (a cluster.Access, err error) {
	if c.Spec.Auth != nil {
		if err := o.own(ctx, c, spec.AccessName(c), &a); err != nil || a.Doubt != "" {
			return a, err
		}
		brought, err := secretOf(ctx, o.Live, c, c.Spec.Auth.SecretName)
		if err != nil {
			return a, err
		}
		a.Doubt = login(c.Spec.Auth.SecretName, brought)
	}
	if c.Spec.TLS != nil && a.Doubt == "" {
		if err := o.own(ctx, c, spec.CertificatesName(c), &a); err != nil || a.Doubt != "" {
			return a, err
		}
		brought, err := secretOf(ctx, o.Live, c, c.Spec.TLS.SecretName)
		if err != nil {
			return a, err
		}
		a.Doubt = certificate(c, brought)
	}
	return a, nil
}

// own looks at a Secret that the operator itself keeps.
func (o Cluster) own(ctx context.Context, c *valkeyv1.ValkeyCluster, name string, a *cluster.Access) error {
	own, err := secretOf(ctx, o.Live, c, name)
	switch {
	case err != nil:
		return err
	case own == nil:
		a.Missing = true
	case !child.OwnedBy(own, c.UID):
		a.Doubt = "Secret " + name + " is somebody else's; remove it, or name the cluster otherwise"
	}
	return nil
}

func secretOf(ctx context.Context, live read.Live, c *valkeyv1.ValkeyCluster, name string) (*corev1.Secret, error) {
	var s corev1.Secret
	err := live.Get(ctx, read.Key{Namespace: c.Namespace, Name: name}, &s)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read Secret %s: %w", name, err)
	}
	return &s, nil
}

// applied says how far the servers that answer are with what they are told while they run:
// access, and settings. One that starts again, or answers again, is another reason to look.
func (o Cluster) applied(ctx context.Context, w *cluster.World, c *valkeyv1.ValkeyCluster) error {
	key := read.Key{Namespace: c.Namespace, Name: c.Name}
	last, live := o.Servers.Last(key).Value, spec.Live(c)
	if last.Keys == "" && len(live) == 0 {
		return nil
	}
	pods, err := podsOf(ctx, o.Cached, key)
	if err != nil {
		return err
	}
	answering := slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool {
		return !slices.ContainsFunc(w.Nodes, func(n topology.Node) bool { return n.Name == p.Name && n.Server != nil })
	})
	if last.Keys != "" {
		o.accessApplied(w, key, last, startsOf(answering))
	}
	if len(live) > 0 {
		o.settingsApplied(w, key, live, startsOf(answering))
	}
	return nil
}

// accessApplied says what servers were last opened with, and how far the work is that brings
// all of them to it.
func (o Cluster) accessApplied(w *cluster.World, key read.Key, last Answers, starts string) {
	w.Access.Print, w.Access.Unstaged = last.Keys, last.Unstaged
	w.Access.Doubt, w.Access.Rotation, w.Access.Starts = cmp.Or(w.Access.Doubt, last.Doubt), last.Rotation, starts
	switch work := o.Access.Work(key); {
	case work.State == read.WorkRunning:
		w.Access.Work = cluster.Moving
	case work.State == read.WorkEnded && work.Err == nil && work.For == cluster.AccessWork(last.Keys, starts):
		w.Access.Work = cluster.Ended
	}
}

// startsOf tells the servers that run now from others, before and after they started again:
// what they were told is gone with the process.
func startsOf(pods []corev1.Pod) string {
	var starts []string
	for i := range pods {
		for _, s := range pods[i].Status.ContainerStatuses {
			if s.Name == spec.ServerContainer {
				starts = append(starts, pods[i].Name+" "+s.ContainerID)
			}
		}
	}
	slices.Sort(starts)
	sum := sha256.Sum256([]byte(strings.Join(starts, "\n")))
	return hex.EncodeToString(sum[:])[:12]
}
