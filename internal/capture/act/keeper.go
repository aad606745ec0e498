// Package act performs the effects of area capture. It is the only package of the
// area that is handed a writer.
package act

import (
	"context"
	"fmt"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/keeper"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// Keeper performs the effects of a keeper.
type Keeper struct{ Writer kube.Writer }

// Act performs one effect.
func (a Keeper) Act(ctx context.Context, k *capturev1.ObjectKeeper, e fsm.Effect) (string, error) {
	switch e := e.(type) {
	case keeper.DeleteKeeper:
		// If it were wrong, the artifacts that the keeper owns, and with them the
		// backups of somebody, would be lost: so only this very keeper in this very
		// version goes, which is the one that was decided upon.
		return "", a.Writer.Delete(ctx, k, kube.Seen{UID: e.UID, ResourceVersion: e.ResourceVersion})
	}
	return "", fmt.Errorf("unknown effect %s", e)
}
