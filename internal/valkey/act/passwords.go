package act

import (
	"context"
	"crypto/rand"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/spec"
)

// makePasswords makes the passwords of the operator's own users. They are written once:
// whoever finds some there keeps them.
func (a Cluster) makePasswords(ctx context.Context, c *valkeyv1.ValkeyCluster) error {
	passwords := map[string][]byte{}
	for _, file := range []string{access.OperatorFile, access.ReplicationFile} {
		made, err := access.Generate(rand.Reader)
		if err != nil {
			return err
		}
		passwords[file] = []byte(made.Reveal())
	}
	return a.Children.Create(ctx, spec.AccessSecret(c, passwords))
}
