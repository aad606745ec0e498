package act

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// Source is where objects are read from.
type Source interface {
	// Resources are all namespaced resources that can be listed.
	Resources(ctx context.Context) ([]manifest.Resource, error)
	// List reads one page as the namespace's ServiceAccount, and returns it as it was sent.
	List(ctx context.Context, q manifest.Query, o ListOptions) ([]byte, error)
}

// ListOptions say which page to read.
type ListOptions struct {
	Namespace string
	Moment    string // the resourceVersion to read at
	Continue  string // where the page before has ended
	Limit     int64
}

// mostOfPage is how many bytes of a page are read.
const mostOfPage = 32 << 20

// ErrPageTooLarge says that a page holds more than is read of one: ask for fewer objects.
var ErrPageTooLarge = errors.New("the page is too large")

// Server is the API server as a Source.
type Server struct {
	config   *rest.Config
	manager  *rest.RESTClient
	discover *discovery.DiscoveryClient

	mu sync.Mutex
	as map[string]*rest.RESTClient // by namespace
}

// NewServer makes a Source of the API server.
func NewServer(config *rest.Config) (*Server, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // pages are read one after the other
	// Objects are compressed here anyway, and sooner than the API server would.
	config.DisableCompression = true
	config.ContentConfig = rest.ContentConfig{
		NegotiatedSerializer: serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion(),
		ContentType:          runtime.ContentTypeJSON, AcceptContentTypes: runtime.ContentTypeJSON,
	}
	s := &Server{config: config, as: map[string]*rest.RESTClient{}}
	var err error
	if s.manager, err = rest.UnversionedRESTClientFor(config); err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	if s.discover, err = discovery.NewDiscoveryClientForConfig(config); err != nil {
		return nil, fmt.Errorf("make discovery client: %w", err)
	}
	return s, nil
}

// Resources implements Source.
func (s *Server) Resources(ctx context.Context) ([]manifest.Resource, error) {
	aggregated, err := s.aggregated(ctx)
	if err != nil {
		return nil, err
	}
	lists, err := s.discover.ServerPreferredNamespacedResources()
	if failed := (*discovery.ErrGroupDiscoveryFailed)(nil); errors.As(err, &failed) {
		for group, cause := range failed.Groups {
			if !aggregated[group] { // ours to read, and not known: nobody can say that all was captured
				return nil, fmt.Errorf("discover %s: %w", group, cause)
			}
		}
	} else if err != nil {
		return nil, fmt.Errorf("discover: %w", err)
	}
	var all []manifest.Resource
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, fmt.Errorf("read version %s: %w", list.GroupVersion, err)
		}
		for _, r := range list.APIResources {
			if !r.Namespaced || strings.Contains(r.Name, "/") || !slices.Contains(r.Verbs, "list") {
				continue
			}
			all = append(all, manifest.Resource{
				Group: version.Group, Version: version.Version, Resource: r.Name, Kind: r.Kind, Aggregated: aggregated[version],
			})
		}
	}
	return all, nil
}

// aggregated are the versions that other servers serve.
func (s *Server) aggregated(ctx context.Context) (map[schema.GroupVersion]bool, error) {
	body, err := s.manager.Get().AbsPath("/apis/apiregistration.k8s.io/v1/apiservices").DoRaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("list APIServices: %w", err)
	}
	var services struct {
		Items []struct {
			Spec struct {
				Group, Version string
				Service        *struct{}
			}
		}
	}
	if err := json.Unmarshal(body, &services); err != nil {
		return nil, fmt.Errorf("read APIServices: %w", err)
	}
	by := map[schema.GroupVersion]bool{}
	for _, item := range services.Items {
		by[schema.GroupVersion{Group: item.Spec.Group, Version: item.Spec.Version}] = item.Spec.Service != nil
	}
	return by, nil
}

// List implements Source.
func (s *Server) List(ctx context.Context, q manifest.Query, o ListOptions) ([]byte, error) {
	as, err := s.in(o.Namespace)
	if err != nil {
		return nil, err
	}
	root := "/apis/" + q.Group
	if q.Group == "" {
		root = "/api"
	}
	req := as.Get().AbsPath(root, q.Version, "namespaces", o.Namespace, q.Resource.Resource).Param("limit", strconv.FormatInt(o.Limit, 10))
	if q.Name != "" {
		req.Param("fieldSelector", "metadata.name="+q.Name)
	}
	if q.Labels != "" {
		req.Param("labelSelector", q.Labels)
	}
	if o.Continue != "" {
		req.Param("continue", o.Continue) // which holds the moment
	} else {
		req.Param("resourceVersion", o.Moment).Param("resourceVersionMatch", string(metav1.ResourceVersionMatchExact))
	}
	body, err := req.Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	page, err := io.ReadAll(io.LimitReader(body, mostOfPage+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read page: %w", err)
	case len(page) > mostOfPage:
		return nil, ErrPageTooLarge
	}
	return page, nil
}

// mostAccounts is how many namespaces have a client. Few are captured at a time, and namespaces come and go.
const mostAccounts = 64

// in is a client that is the ServiceAccount of a namespace.
func (s *Server) in(namespace string) (*rest.RESTClient, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.as[namespace]; c != nil {
		return c, nil
	}
	config, err := kube.Impersonate(s.config, kube.Account(namespace, Account))
	if err != nil {
		return nil, err
	}
	c, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make client of namespace %s: %w", namespace, err)
	}
	if len(s.as) >= mostAccounts {
		clear(s.as)
	}
	s.as[namespace] = c
	return c, nil
}
