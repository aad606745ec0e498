package act

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
)

// Vault keeps what the operator itself keeps of the access to a cluster.
type Vault interface {
	// Stage lets the files of servers hold certificates, in the place of those that were seen.
	Stage(ctx context.Context, seen, next access.Material) error
	// EndPasswords keeps only the newest of the operator's own passwords that were seen.
	EndPasswords(ctx context.Context, seen access.Secrets) error
}

// secrets is the vault in Kubernetes: two Secrets that the cluster owns. They are read live
// before they are written, and by one who leads.
type secrets struct {
	writer kube.Writer
	live   read.Live
	c      *valkeyv1.ValkeyCluster
}

func (a Cluster) vault(c *valkeyv1.ValkeyCluster) secrets {
	return secrets{a.Children, a.Live, c.DeepCopy()}
}

var (
	errSince  = &fsm.Error{Class: fsm.Changed, Err: errors.New("the Secrets were changed since")}
	errOthers = &fsm.Error{Class: fsm.Changed, Err: errors.New("somebody else's Secret has the name of the cluster's own")}
)

// make makes what servers start with. Whoever finds some there keeps it.
func (s secrets) make(ctx context.Context) error {
	if s.c.Spec.Auth != nil {
		if err := s.makePasswords(ctx); err != nil {
			return err
		}
	}
	if s.c.Spec.TLS == nil {
		return nil
	}
	if own, err := s.own(ctx, spec.CertificatesName(s.c)); own != nil || err != nil {
		return err
	}
	var brought corev1.Secret
	if err := s.live.Get(ctx, read.Key{Namespace: s.c.Namespace, Name: s.c.Spec.TLS.SecretName}, &brought); err != nil {
		return fmt.Errorf("read certificates: %w", err)
	}
	return s.stage(ctx, nil, access.ParseMaterial(filesOf(&brought)))
}

func (s secrets) makePasswords(ctx context.Context) error {
	if own, err := s.own(ctx, spec.AccessName(s.c)); own != nil || err != nil {
		return err
	}
	made, err := begun(access.Secrets{})
	if err != nil {
		return err
	}
	return s.writer.Apply(ctx, spec.AccessSecret(s.c, made, spec.Rotation(s.c)), "")
}

// changePasswords makes new passwords beside those that there are. They are kept before any
// server hears of them.
func (s secrets) changePasswords(ctx context.Context, rotation string) error {
	own, err := s.own(ctx, spec.AccessName(s.c))
	if err != nil {
		return err
	}
	if own == nil || rotation != spec.Rotation(s.c) {
		return fmt.Errorf("change passwords: %w", errSince)
	}
	if own.Annotations[valkeyv1.RotationAnnotation] == rotation {
		return nil
	}
	is, err := access.ParseOwn(filesOf(own))
	if err != nil {
		return fmt.Errorf("change passwords: %w", err)
	}
	made, err := begun(is)
	if err != nil {
		return err
	}
	return s.writer.Apply(ctx, spec.AccessSecret(s.c, made, rotation), own.UID)
}

func begun(is access.Secrets) (access.Secrets, error) {
	operator, err := access.Generate(rand.Reader)
	if err != nil {
		return is, err
	}
	replication, err := access.Generate(rand.Reader)
	return is.Begin(operator, replication), err
}

// EndPasswords implements Vault.
func (s secrets) EndPasswords(ctx context.Context, seen access.Secrets) error {
	own, err := s.own(ctx, spec.AccessName(s.c))
	if err != nil {
		return err
	}
	if own == nil {
		return fmt.Errorf("end a change of passwords: %w", errSince)
	}
	is, err := access.ParseOwn(filesOf(own))
	if err != nil {
		return fmt.Errorf("end a change of passwords: %w", err)
	}
	if !slices.Equal(is.Operator, seen.Operator) || !slices.Equal(is.Replication, seen.Replication) {
		return fmt.Errorf("end a change of passwords: %w", errSince)
	}
	return s.writer.Apply(ctx, spec.AccessSecret(s.c, is.End(), own.Annotations[valkeyv1.RotationAnnotation]), own.UID)
}

// Stage implements Vault.
func (s secrets) Stage(ctx context.Context, seen, next access.Material) error {
	own, err := s.own(ctx, spec.CertificatesName(s.c))
	if err != nil {
		return err
	}
	is := access.Material{}
	if own != nil {
		is = access.ParseMaterial(filesOf(own))
	}
	if is != seen {
		return fmt.Errorf("stage certificates: %w", errSince)
	}
	return s.stage(ctx, own, next)
}

// stage writes only what servers can work with: one that cannot would be alone with it.
func (s secrets) stage(ctx context.Context, own *corev1.Secret, next access.Material) error {
	if err := next.Check(spec.ServerName(s.c), time.Now()); err != nil {
		return fmt.Errorf("stage certificates: %w", err)
	}
	made := spec.CertificatesSecret(s.c, next, shownBefore(own, next))
	if own != nil {
		made.UID = own.UID
	}
	return s.writer.Apply(ctx, made, made.UID)
}

// shownBefore is the certificate that servers may show until they have loaded the next.
func shownBefore(own *corev1.Secret, next access.Material) string {
	if own == nil {
		return ""
	}
	if is := string(own.Data[access.CertificateFile]); is != next.Certificate {
		return is
	}
	return string(own.Data[access.BeforeFile])
}

// own reads one of the cluster's own Secrets; nil is that there is none.
func (s secrets) own(ctx context.Context, name string) (*corev1.Secret, error) {
	var own corev1.Secret
	err := s.live.Get(ctx, read.Key{Namespace: s.c.Namespace, Name: name}, &own)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read Secret %s: %w", name, err)
	case !metav1.IsControlledBy(&own, s.c):
		return nil, fmt.Errorf("read Secret %s: %w", name, errOthers)
	}
	return &own, nil
}

func filesOf(s *corev1.Secret) map[string]string {
	files := map[string]string{}
	for key, text := range s.Data {
		files[key] = string(text)
	}
	return files
}
