package capture

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// RestoreKey names a request by its UID as well: another of its name is another restore.
// claim is the name of its claim, where that is how the restorer heard of it.
func RestoreKey(namespace, name string, uid types.UID, claim string) read.Key {
	return read.Key{Namespace: namespace, Name: strings.Join([]string{name, string(uid), claim}, "/")}
}

// ParseRestoreKey is the restore that a key names, before anything is known of it.
func ParseRestoreKey(key read.Key) (*restorer.Restore, error) {
	parts := strings.Split(key.Name, "/")
	if len(parts) != 3 {
		return nil, reconcile.TerminalError(fmt.Errorf("read key %s: want name/uid/claim", key.Name))
	}
	r := restorer.New(key.Namespace, parts[0], types.UID(parts[1]))
	if claim := parts[2]; claim != "" {
		r.Annotations = map[string]string{restorer.ClaimName: claim}
	}
	return r, nil
}
