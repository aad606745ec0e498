package act

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/remediation/spec"
)

// accounts makes the accounts of actions: targets are read, and changed, with their rights.
type accounts struct {
	Writer kube.Writer
	Live   read.Live
}

// make makes the account of an action and its binding. One that was there before is not adopted.
func (a accounts) make(ctx context.Context, namespace, action string) error {
	def, err := a.definition(ctx, action, "")
	if err != nil {
		return err
	}
	if err := a.Writer.Create(ctx, spec.Account(namespace, def)); err != nil {
		return err
	}
	return a.Writer.Create(ctx, spec.Binding(namespace, def))
}

// definition is that of the action, as it is now; with a UID, only the very one that was planned with.
func (a accounts) definition(ctx context.Context, action string, uid types.UID) (*remediationv1.ActionDefinition, error) {
	var def remediationv1.ActionDefinition
	if err := a.Live.Get(ctx, read.Key{Name: remediationv1.DefinitionOf(action)}, &def); err != nil {
		return nil, fmt.Errorf("read action: %w", err)
	}
	if uid != "" && def.UID != uid {
		return nil, &fsm.Error{Class: fsm.Changed, Err: errors.New("the action was defined anew since the plan was made")}
	}
	return &def, nil
}
