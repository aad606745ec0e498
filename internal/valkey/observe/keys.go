package observe

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
)

// Keys reads the Secrets of a cluster.
func Keys(ctx context.Context, live read.Live, c *valkeyv1.ValkeyCluster) (keys access.Keys, err error) {
	files := map[string]string{}
	if c.Spec.Auth != nil {
		if err := secretInto(ctx, live, read.Key{Namespace: c.Namespace, Name: spec.AccessName(c)}, files, map[string]string{
			access.OperatorFile: access.OperatorFile, access.ReplicationFile: access.ReplicationFile,
		}); err != nil {
			return keys, err
		}
		if err := secretInto(ctx, live, read.Key{Namespace: c.Namespace, Name: c.Spec.Auth.SecretName}, files, map[string]string{
			valkeyv1.UsernameKey: access.ApplicationUserFile, valkeyv1.PasswordKey: access.ApplicationPasswordFile,
		}); err != nil {
			return keys, err
		}
		if keys.Secrets, err = access.ParseSecrets(files); err != nil {
			return keys, fmt.Errorf("read passwords: %w", err)
		}
	}
	if c.Spec.TLS != nil {
		if err := secretInto(ctx, live, read.Key{Namespace: c.Namespace, Name: c.Spec.TLS.SecretName}, files, map[string]string{
			valkeyv1.AuthorityKey: valkeyv1.AuthorityKey, valkeyv1.CertificateKey: valkeyv1.CertificateKey, valkeyv1.PrivateKeyKey: valkeyv1.PrivateKeyKey,
		}); err != nil {
			return keys, err
		}
		pair, err := tls.X509KeyPair([]byte(files[valkeyv1.CertificateKey]), []byte(files[valkeyv1.PrivateKeyKey]))
		if err != nil {
			return keys, fmt.Errorf("read certificate: %w", err)
		}
		sum := sha256.Sum256(pair.Certificate[0])
		keys.Certificate, keys.Authorities = hex.EncodeToString(sum[:]), files[valkeyv1.AuthorityKey]
	}
	return keys, nil
}

// secretInto copies keys of a Secret under other names.
func secretInto(ctx context.Context, live read.Live, key read.Key, into, names map[string]string) error {
	var s corev1.Secret
	if err := live.Get(ctx, key, &s); err != nil {
		return fmt.Errorf("read Secret %s: %w", key.Name, err)
	}
	for of, as := range names {
		into[as] = string(s.Data[of])
	}
	return nil
}
