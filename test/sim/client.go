package sim

import (
	"context"
	"errors"
	"reflect"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// newClient makes the client of a process: reads come from its cache, and every
// call crosses the boundary.
func (c *Cell) newClient() client.Client {
	return interceptor.NewClient(c.run.lab.actor, crossing(caller{cell: c, run: c.run}))
}

// userClient is the client of whoever is not a controller.
func (r *run) userClient() client.Client {
	return interceptor.NewClient(r.lab.admin, crossing(caller{run: r}))
}

// caller is who calls: a process, or the user if cell is nil.
type caller struct {
	cell *Cell
	run  *run
}

// write crosses with a call that changes obj. do is handed a copy, so that the
// answer reaches the caller only if it is meant to.
func (c caller) write(ctx context.Context, verb, subresource string, obj client.Object, do func(context.Context, client.Object) error) error {
	kind := write
	if verb == "create" || verb == "apply" {
		kind = creation
	}
	return c.cross(ctx, op{site: verb + " " + c.run.kind(obj) + subresource, kind: kind,
		do: func(ctx context.Context, call *Call) (func(), error) {
			made := obj.DeepCopyObject().(client.Object)
			if err := do(ctx, made); err != nil {
				return nil, err
			}
			if err := c.run.wrote(ctx, call, verb, subresource, made); err != nil {
				return nil, err
			}
			return func() { reflect.ValueOf(obj).Elem().Set(reflect.ValueOf(made).Elem()) }, nil
		}})
}

func (c caller) cross(ctx context.Context, o op) error {
	if c.cell != nil {
		return c.cell.cross(ctx, o)
	}
	answer, err := o.do(ctx, c.run.arrive(nil, "user "+o.site, byUser))
	if err == nil && answer != nil {
		answer()
	}
	return err
}

var errNotSimulated = errors.New("this call is not simulated")

// crossing routes each call of a client through the caller.
func crossing(c caller) interceptor.Funcs {
	f := writing(c)
	if c.cell != nil {
		f.Get = func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
			return c.cell.get(ctx, key, obj)
		}
		f.List = func(ctx context.Context, _ client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			return c.cell.list(ctx, list, opts...)
		}
	}
	f.DeleteAllOf = func(context.Context, client.WithWatch, client.Object, ...client.DeleteAllOfOption) error {
		return errNotSimulated
	}
	f.SubResourceGet = func(context.Context, client.Client, string, client.Object, client.Object, ...client.SubResourceGetOption) error {
		return errNotSimulated
	}
	f.SubResourceApply = func(context.Context, client.Client, string, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
		return errNotSimulated
	}
	return f
}

func writing(c caller) interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, to client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			if c.isReview(obj) {
				return c.try(ctx, "create", obj, func(ctx context.Context) error { return to.Create(ctx, obj, opts...) })
			}
			return c.write(ctx, "create", "", obj, func(ctx context.Context, obj client.Object) error { return to.Create(ctx, obj, opts...) })
		},
		Delete: func(ctx context.Context, to client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			return c.write(ctx, "delete", "", obj, func(ctx context.Context, obj client.Object) error { return to.Delete(ctx, obj, opts...) })
		},
		Update: func(ctx context.Context, to client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			return c.write(ctx, "update", "", obj, func(ctx context.Context, obj client.Object) error { return to.Update(ctx, obj, opts...) })
		},
		Patch: func(ctx context.Context, to client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			return c.write(ctx, "patch", "", obj, func(ctx context.Context, obj client.Object) error { return to.Patch(ctx, obj, patch, opts...) })
		},
		Apply: func(ctx context.Context, to client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
			return c.apply(ctx, obj, func(ctx context.Context, obj runtime.ApplyConfiguration) error { return to.Apply(ctx, obj, opts...) })
		},
		SubResourceCreate: func(ctx context.Context, to client.Client, name string, obj, sub client.Object, opts ...client.SubResourceCreateOption) error {
			return c.write(ctx, "create", "/"+name, obj, func(ctx context.Context, obj client.Object) error {
				return to.SubResource(name).Create(ctx, obj, sub, opts...)
			})
		},
		SubResourceUpdate: func(ctx context.Context, to client.Client, name string, obj client.Object, opts ...client.SubResourceUpdateOption) error {
			return c.write(ctx, "update", "/"+name, obj, func(ctx context.Context, obj client.Object) error {
				return to.SubResource(name).Update(ctx, obj, opts...)
			})
		},
		SubResourcePatch: func(ctx context.Context, to client.Client, name string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			return c.write(ctx, "patch", "/"+name, obj, func(ctx context.Context, obj client.Object) error {
				return to.SubResource(name).Patch(ctx, obj, patch, opts...)
			})
		},
	}
}

// isReview says that to create the object is to ask the API server something: it stores nothing.
func (c caller) isReview(obj client.Object) bool {
	gvk, err := apiutil.GVKForObject(obj, c.run.lab.scheme)
	return err == nil && (gvk.Group == authenticationv1.GroupName || gvk.Group == authorizationv1.GroupName)
}

// apply is write for a server-side apply, which our controllers build unstructured.
func (c caller) apply(ctx context.Context, config runtime.ApplyConfiguration, do func(context.Context, runtime.ApplyConfiguration) error) error {
	source, is := config.(interface {
		DeepCopy() *unstructured.Unstructured
	})
	if !is {
		return errNotSimulated
	}
	return c.write(ctx, "apply", "", source.DeepCopy(), func(ctx context.Context, obj client.Object) error {
		return do(ctx, client.ApplyConfigurationFromUnstructured(obj.(*unstructured.Unstructured)))
	})
}
