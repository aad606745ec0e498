package sim

import (
	"context"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// As is the client of a user who is no administrator. What is written through it is told to the
// controllers.
func (w *World) As(user string, groups ...string) client.Client {
	to, err := w.run.lab.user(user, groups)
	if err != nil {
		panic(err) // the bed is gone
	}
	return interceptor.NewClient(to, crossing(caller{run: w.run}))
}

// As is a client by which the process impersonates another user: the API server holds it to
// the rights of that one. It reads past the cache. A write that is only tried is a read.
func (c *Cell) As(user string) (client.Client, error) {
	lab := c.run.lab
	base, err := lab.transport()
	if err != nil {
		return nil, fmt.Errorf("connect as %s: %w", user, err)
	}
	impersonating := transport.NewImpersonatingRoundTripper(transport.ImpersonationConfig{UserName: user}, base)
	to, err := client.NewWithWatch(&rest.Config{Host: lab.bed.Config().Host, QPS: -1}, client.Options{
		Scheme: lab.scheme, Mapper: lab.actor.RESTMapper(), HTTPClient: &http.Client{Transport: impersonating},
	})
	if err != nil {
		return nil, fmt.Errorf("connect as %s: %w", user, err)
	}
	return interceptor.NewClient(to, impersonated(caller{cell: c, run: c.run})), nil
}

// newTransport is the way of controllers to the API server, without what they say there.
func (l *Lab) newTransport() (http.RoundTripper, error) {
	return rest.TransportFor(l.config)
}

// impersonated routes each call through the caller, reads and tries as well.
func impersonated(c caller) interceptor.Funcs {
	f := crossing(c)
	stored := writing(c)
	f.Get = func(ctx context.Context, to client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
		return c.try(ctx, "get", obj, func(ctx context.Context) error { return to.Get(ctx, key, obj, opts...) })
	}
	f.List = func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return errNotSimulated
	}
	f.Create = func(ctx context.Context, to client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
		if o := (&client.CreateOptions{}).ApplyOptions(opts); len(o.DryRun) == 0 {
			return stored.Create(ctx, to, obj, opts...)
		}
		return c.try(ctx, "create", obj, func(ctx context.Context) error { return to.Create(ctx, obj, opts...) })
	}
	f.Patch = func(ctx context.Context, to client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
		if o := (&client.PatchOptions{}).ApplyOptions(opts); len(o.DryRun) == 0 {
			return stored.Patch(ctx, to, obj, patch, opts...)
		}
		return c.try(ctx, "patch", obj, func(ctx context.Context) error { return to.Patch(ctx, obj, patch, opts...) })
	}
	f.Delete = func(ctx context.Context, to client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
		if o := (&client.DeleteOptions{}).ApplyOptions(opts); len(o.DryRun) == 0 {
			return stored.Delete(ctx, to, obj, opts...)
		}
		return c.try(ctx, "delete", obj, func(ctx context.Context) error { return to.Delete(ctx, obj, opts...) })
	}
	f.Apply = func(ctx context.Context, to client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
		if o := (&client.ApplyOptions{}).ApplyOptions(opts); len(o.DryRun) == 0 {
			return stored.Apply(ctx, to, obj, opts...)
		}
		named, is := obj.(runtime.Object)
		if !is {
			return errNotSimulated
		}
		return c.try(ctx, "apply", named, func(ctx context.Context) error { return to.Apply(ctx, obj, opts...) })
	}
	return f
}

// try crosses with a call that changes nothing.
func (c caller) try(ctx context.Context, verb string, obj runtime.Object, do func(context.Context) error) error {
	return c.cross(ctx, op{site: "try " + verb + " " + c.run.kind(obj), kind: liveRead, do: func(ctx context.Context, _ *Call) (func(), error) {
		return nil, do(ctx)
	}})
}
