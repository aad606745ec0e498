package act

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// Catalogue keeps the built-in actions as this version ships them.
type Catalogue struct {
	Writer   kube.Writer
	Live     read.Live
	Builtins []*remediationv1.ActionDefinition
}

// Keep looks through the built-in actions once.
func (c Catalogue) Keep(ctx context.Context) error {
	var errs []error
	for _, def := range c.Builtins {
		errs = append(errs, c.keep(ctx, def.DeepCopy()))
	}
	return errors.Join(errs...)
}

// keep makes an action that is missing, and one anew that is another version's: definitions cannot be changed. What is lost
// with the old one are plans that were not carried out yet; they are made anew, and approved again.
func (c Catalogue) keep(ctx context.Context, def *remediationv1.ActionDefinition) error {
	var is remediationv1.ActionDefinition
	sight, err := read.Find(ctx, c.Live, read.Key{Name: def.Name}, &is, nil)
	switch {
	case err != nil:
		return err
	case sight == presence.Here && is.Spec.Builtin != def.Spec.Builtin:
		return fmt.Errorf("ActionDefinition %s is a user's, so the built-in action of that name is not there", def.Name)
	case sight == presence.Here && equality.Semantic.DeepEqual(is.Spec, def.Spec):
		return nil
	case sight == presence.Here:
		if err := c.Writer.Delete(ctx, &is, kube.SeenOf(&is)); err != nil {
			return err
		}
	}
	return c.Writer.CreateUnowned(ctx, def, &is, func() bool { return true }) // another replica was faster
}
