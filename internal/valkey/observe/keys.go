package observe

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
)

// Keys reads the Secrets of a cluster. What is wrong with those that the user brings is a
// doubt and not an error: servers are opened by what the operator itself keeps.
func Keys(ctx context.Context, live read.Live, c *valkeyv1.ValkeyCluster) (keys access.Keys, err error) {
	r := secretReader{live, c}
	if c.Spec.Auth != nil {
		if err := r.passwords(ctx, &keys); err != nil {
			return keys, err
		}
	}
	if c.Spec.TLS != nil {
		if err := r.certificates(ctx, &keys); err != nil {
			return keys, err
		}
	}
	return keys, nil
}

type secretReader struct {
	live read.Live
	c    *valkeyv1.ValkeyCluster
}

func (r secretReader) passwords(ctx context.Context, keys *access.Keys) error {
	own, err := secretOf(ctx, r.live, r.c, spec.AccessName(r.c))
	if err != nil {
		return err
	}
	if !kept(own, r.c) {
		return fmt.Errorf("read Secret %s: the operator's own passwords are gone", spec.AccessName(r.c))
	}
	files := filesOf(own)
	keys.Rotation = own.Annotations[valkeyv1.RotationAnnotation]
	if keys.Secrets, err = access.ParseOwn(files); err != nil {
		return fmt.Errorf("read passwords: %w", err)
	}
	brought, err := secretOf(ctx, r.live, r.c, r.c.Spec.Auth.SecretName)
	if err != nil {
		return err
	}
	if keys.Doubt = login(r.c.Spec.Auth.SecretName, brought); keys.Doubt != "" {
		return nil
	}
	files[access.ApplicationUserFile] = string(brought.Data[valkeyv1.UsernameKey])
	files[access.ApplicationPasswordFile] = string(brought.Data[valkeyv1.PasswordKey])
	if keys.Secrets, err = access.ParseSecrets(files); err != nil {
		return fmt.Errorf("read passwords: %w", err)
	}
	return nil
}

func (r secretReader) certificates(ctx context.Context, keys *access.Keys) error {
	own, err := secretOf(ctx, r.live, r.c, spec.CertificatesName(r.c))
	if err != nil {
		return err
	}
	if kept(own, r.c) {
		keys.Staged, keys.Before = access.ParseMaterial(filesOf(own)), string(own.Data[access.BeforeFile])
	}
	brought, err := secretOf(ctx, r.live, r.c, r.c.Spec.TLS.SecretName)
	if err != nil {
		return err
	}
	if doubt := certificate(r.c, brought); doubt != "" {
		keys.Doubt, keys.Given = doubt, keys.Staged
		return nil
	}
	keys.Given = access.ParseMaterial(filesOf(brought))
	return nil
}

// kept says that a Secret is there, and the cluster's own.
func kept(s *corev1.Secret, c *valkeyv1.ValkeyCluster) bool {
	return s != nil && child.OwnedBy(s, c.UID)
}

func filesOf(s *corev1.Secret) map[string]string {
	files := map[string]string{}
	for key, text := range s.Data {
		files[key] = string(text)
	}
	return files
}

// login is what is wrong with the name and the password of the application.
func login(name string, s *corev1.Secret) string {
	if s == nil {
		return fmt.Sprintf("Secret %s with username and password, which spec.auth names, does not exist", name)
	}
	if err := access.CheckName(string(s.Data[valkeyv1.UsernameKey])); err != nil {
		return fmt.Sprintf("Secret %s has no valid %s: %v", name, valkeyv1.UsernameKey, err)
	}
	if _, err := access.ParsePasswords(string(s.Data[valkeyv1.PasswordKey])); err != nil {
		return fmt.Sprintf("Secret %s has no valid %s: %v", name, valkeyv1.PasswordKey, err)
	}
	return ""
}

// certificate is what is wrong with the certificate of the servers.
func certificate(c *valkeyv1.ValkeyCluster, s *corev1.Secret) string {
	name := c.Spec.TLS.SecretName
	if s == nil {
		return fmt.Sprintf("Secret %s with tls.crt, tls.key and ca.crt, which spec.tls names, does not exist", name)
	}
	if err := access.ParseMaterial(filesOf(s)).Check(spec.ServerName(c), time.Now()); err != nil {
		return fmt.Sprintf("Secret %s has no valid certificate: %v", name, err)
	}
	return ""
}
