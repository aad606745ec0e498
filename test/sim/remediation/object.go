package remediation

import (
	"context"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/remediation/action"
	"github.com/statecraft-dev/statecraft/internal/remediation/perform"
)

// object is the target as statecraft-action reaches it.
type object struct {
	node    *node
	command action.Command
}

func (o object) empty() *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetAPIVersion(o.command.Target.APIVersion)
	obj.SetKind(o.command.Target.Kind)
	obj.SetNamespace(o.command.Target.Namespace)
	obj.SetName(o.command.Target.Name)
	return obj
}

// Get implements perform.Object.
func (o object) Get(ctx context.Context) (map[string]any, error) {
	o.node.world.Before(ctx, "action get "+o.command.Target.Kind)
	obj := o.empty()
	err := o.node.world.Client.Get(ctx, client.ObjectKeyFromObject(obj), obj)
	return obj.Object, err
}

// Delete implements perform.Object.
func (o object) Delete(ctx context.Context, d perform.Deletion) ([]string, error) {
	err := o.node.world.Client.Delete(ctx, o.empty(), &client.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &d.UID, ResourceVersion: &d.ResourceVersion}, GracePeriodSeconds: d.Grace,
	})
	if err != nil {
		return nil, err
	}
	return nil, o.node.changed(ctx, o.command.Execution)
}

// Pods implements perform.Object.
func (o object) Pods(context.Context) ([]map[string]any, error) { return nil, errNoNodes }

// Evict implements perform.Object.
func (o object) Evict(context.Context, action.Pod, *int64) error { return errNoNodes }

var errNoNodes = errors.New("no story drains a node")

// Patch implements perform.Object.
func (o object) Patch(ctx context.Context, patch map[string]any) (map[string]any, []string, error) {
	body, err := json.Marshal(patch)
	if err != nil {
		return nil, nil, err
	}
	o.node.world.Before(ctx, "action patch "+o.command.Target.Kind)
	obj, was := o.empty(), o.empty()
	o.node.world.Find(was)
	if err := o.node.world.Client.Patch(ctx, obj, client.RawPatch(types.MergePatchType, body), client.FieldOwner(perform.Program)); err != nil {
		return nil, nil, err
	}
	o.node.changes(was.Object, o.command)
	return obj.Object, nil, o.node.changed(ctx, o.command.Execution)
}
