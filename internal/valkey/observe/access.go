package observe

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
)

// access looks at the Secrets that pods will need. They are read live: Secrets of all the
// cluster are nothing to keep in memory.
func (o Cluster) access(ctx context.Context, c *valkeyv1.ValkeyCluster) (a cluster.Access, err error) {
	if c.Spec.Auth != nil {
		own, err := o.secret(ctx, c, spec.AccessName(c))
		switch {
		case err != nil:
			return a, err
		case own == nil:
			a.Missing = true
		case !ownedBy(own, c.UID):
			return cluster.Access{Doubt: "Secret " + own.Name + " is somebody else's; remove it, or name the cluster otherwise"}, nil
		}
		brought, err := o.secret(ctx, c, c.Spec.Auth.SecretName)
		if err != nil {
			return a, err
		}
		a.Doubt = login(c.Spec.Auth.SecretName, brought)
	}
	if c.Spec.TLS != nil && a.Doubt == "" {
		brought, err := o.secret(ctx, c, c.Spec.TLS.SecretName)
		if err != nil {
			return a, err
		}
		a.Doubt = certificate(c, brought)
	}
	return a, nil
}

func (o Cluster) secret(ctx context.Context, c *valkeyv1.ValkeyCluster, name string) (*corev1.Secret, error) {
	var s corev1.Secret
	err := o.Live.Get(ctx, read.Key{Namespace: c.Namespace, Name: name}, &s)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read Secret %s: %w", name, err)
	}
	return &s, nil
}

// login is what is wrong with the name and the password of the application.
func login(name string, s *corev1.Secret) string {
	if s == nil {
		return fmt.Sprintf("Secret %s with username and password, which spec.auth names, to exist", name)
	}
	if err := access.CheckName(string(s.Data[valkeyv1.UsernameKey])); err != nil {
		return fmt.Sprintf("Secret %s: %s: %v", name, valkeyv1.UsernameKey, err)
	}
	if _, err := access.ParsePasswords(string(s.Data[valkeyv1.PasswordKey])); err != nil {
		return fmt.Sprintf("Secret %s: %s: %v", name, valkeyv1.PasswordKey, err)
	}
	return ""
}

// certificate is what is wrong with the certificate of the servers.
func certificate(c *valkeyv1.ValkeyCluster, s *corev1.Secret) string {
	name := c.Spec.TLS.SecretName
	if s == nil {
		return fmt.Sprintf("Secret %s with tls.crt, tls.key and ca.crt, which spec.tls names, to exist", name)
	}
	files := map[string]string{}
	for key, text := range s.Data {
		files[key] = string(text)
	}
	if err := access.ParseMaterial(files).Check(spec.ServerName(c), time.Now()); err != nil {
		return fmt.Sprintf("Secret %s: %v", name, err)
	}
	return ""
}

// applied says what servers were last opened with, and how far the work is that brings all
// of them to it.
func (o Cluster) applied(w *cluster.World, key read.Key) {
	w.Access.Print = o.Servers.Last(key).Value.Keys
	if w.Access.Print == "" {
		return
	}
	key.Name = cluster.AccessWork(key.Name, w.Access.Print)
	switch work := o.Access.Work(key); {
	case work.State == read.WorkRunning:
		w.Access.Work = cluster.Moving
	case work.State == read.WorkEnded && work.Err == nil:
		w.Access.Work = cluster.Ended
	}
}
