package plugin

import (
	"context"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/statecraft-dev/statecraft/internal/explain"
	"github.com/statecraft-dev/statecraft/internal/version"
)

// Reader reads objects of Statecraft, and what explains them, with the rights of its config.
type Reader struct {
	// System is the namespace in which Statecraft is installed; empty is to look for it.
	System string

	mapper   apimeta.RESTMapper
	objects  dynamic.Interface
	metadata metadata.Interface
	typed    kubernetes.Interface
	now      func() time.Time
}

// NewReader makes a reader of one cluster.
func NewReader(cfg *rest.Config) (*Reader, error) {
	cfg = through(cfg, func(next http.RoundTripper) http.RoundTripper { return readOnly{next} })
	r := &Reader{now: time.Now}
	var err error
	if r.typed, err = kubernetes.NewForConfig(cfg); err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	if r.objects, err = dynamic.NewForConfig(cfg); err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	if r.metadata, err = metadata.NewForConfig(cfg); err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	served, err := discovery.NewDiscoveryClientForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	cached := memory.NewMemCacheClient(served)
	r.mapper = restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(cached), cached, nil)
	return r, nil
}

// through is a config of this program, whose requests pass a guard.
func through(cfg *rest.Config, guard func(http.RoundTripper) http.RoundTripper) *rest.Config {
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = version.UserAgent("kubectl-statecraft")
	cfg.QPS, cfg.Burst = 50, 100
	cfg.Wrap(guard)
	return cfg
}

// Why explains an object, named as kind/name or kind and name.
func (r *Reader) Why(ctx context.Context, namespace string, args ...string) (explain.Answer, error) {
	f, of, obj, err := r.get(ctx, namespace, args)
	if err != nil {
		return explain.Answer{}, err
	}
	f.Events, f.Unseen = r.warnings(ctx, obj)
	f.Leader = r.elections(ctx, of.Area).of(obj, f.Now)
	return explain.Why(f), nil
}

// Status reports on an object, named as kind/name or kind and name.
func (r *Reader) Status(ctx context.Context, namespace string, args ...string) (explain.Report, error) {
	f, of, obj, err := r.get(ctx, namespace, args)
	if err != nil {
		return explain.Report{}, err
	}
	if f.Sections, err = of.sections(obj, f.Now); err != nil {
		return explain.Report{}, err
	}
	others, unseen, err := r.naming(ctx, of, obj)
	if err != nil {
		return explain.Report{}, err
	}
	f.Sections = append(f.Sections, others...)
	f.Children, f.Unseen = r.children(ctx, of, obj)
	f.Unseen = append(f.Unseen, unseen...)
	f.Leader = r.elections(ctx, of.Area).of(obj, f.Now)
	return explain.Status(f), nil
}

func (r *Reader) get(ctx context.Context, namespace string, args []string) (explain.Facts, found, *unstructured.Unstructured, error) {
	of, err := r.find(args)
	if err != nil {
		return explain.Facts{}, of, nil, err
	}
	if of.mapping.Scope.Name() == apimeta.RESTScopeNameRoot {
		namespace = ""
	}
	obj, err := r.objects.Resource(of.mapping.Resource).Namespace(namespace).Get(ctx, of.name, metav1.GetOptions{})
	if err != nil {
		return explain.Facts{}, of, nil, fmt.Errorf("read %s: %w", of.GroupKind.Kind, err)
	}
	f, err := of.read(obj, r.now())
	return f, of, obj, err
}

// read takes the facts from an object.
func (k Kind) read(obj *unstructured.Unstructured, now time.Time) (explain.Facts, error) {
	f := k.facts()
	f.Now = now
	if err := f.Read(obj, k.Machine.Shows, k.Machine.Parts); err != nil {
		return f, fmt.Errorf("%s %s: %w", k.GroupKind.Kind, obj.GetName(), err)
	}
	return f, nil
}

// sections are what the area itself says about an object.
func (k Kind) sections(obj *unstructured.Unstructured, now time.Time) ([]explain.Section, error) {
	if k.Machine.Details == nil {
		return nil, nil
	}
	sections, err := k.Machine.Details(obj, now)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", k.GroupKind.Kind, obj.GetName(), err)
	}
	return sections, nil
}

// hidden says what could not be listed, in a sentence that does not change from try to try.
func hidden(err error, what, namespace, so string) string {
	where := "in namespace " + namespace
	if namespace == "" {
		where = "of the cluster"
	}
	if apierrors.IsForbidden(err) {
		return fmt.Sprintf("You may not list %s %s%s.", what, where, so)
	}
	return fmt.Sprintf("The %s %s cannot be listed (%s)%s.", what, where, apierrors.ReasonForError(err), so)
}
