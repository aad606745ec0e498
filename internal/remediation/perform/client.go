package perform

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"

	"github.com/statecraft-dev/statecraft/internal/remediation/action"
)

// Program is the name of the program, and that under which the API server notes what it wrote.
const Program = "statecraft-action"

// Object is the target of an action in the API server.
type Object interface {
	// Get reads it live.
	Get(ctx context.Context) (map[string]any, error)
	// Patch applies a JSON merge patch, once: what it does not know the outcome of it does not send
	// again. It returns what the API server stored, and its warnings.
	Patch(ctx context.Context, patch map[string]any) (map[string]any, []string, error)
	// Delete deletes it, once and only as that very object in that very version. It returns warnings.
	Delete(ctx context.Context, d Deletion) ([]string, error)
	// Pods are those that are bound to it, if it is a node.
	Pods(ctx context.Context) ([]map[string]any, error)
	// Evict asks for the eviction of one very pod, once. The API server refuses it while a budget does
	// not allow it.
	Evict(ctx context.Context, p action.Pod, grace *int64) error
}

// Deletion is what is deleted, and how long it may take to end; nil is as long as it says itself.
type Deletion struct {
	UID             types.UID
	ResourceVersion string
	Grace           *int64
}

// Client is an object that is reached through a rest client. A dynamic client is not enough: it sends
// a write again when the server asks it to, so its last error says nothing of the first try.
type Client struct {
	rest   rest.Interface
	target action.Target
	prefix string
	within time.Duration
}

// Connect makes a client of one object. The API server is asked to give up a write after so long, a
// little before the program does: then it still answers.
func Connect(cfg *rest.Config, t action.Target, within time.Duration) (*Client, error) {
	version, err := schema.ParseGroupVersion(t.APIVersion)
	if err != nil {
		return nil, fmt.Errorf("read the version of the target: %w", err)
	}
	prefix := "/apis/" + t.APIVersion
	if version.Group == "" {
		prefix = "/api/" + t.APIVersion
	}
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1 // the server's own flow control decides
	cfg.ContentConfig = rest.ContentConfig{
		ContentType: runtime.ContentTypeJSON, NegotiatedSerializer: serializer.NewCodecFactory(scheme).WithoutConversion(),
	}
	cfg.WarningHandler = rest.NoWarnings{} // they go into the report
	c, err := rest.UnversionedRESTClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return &Client{rest: c, target: t, prefix: prefix, within: within * 9 / 10}, nil
}

// Get implements Object.
func (c *Client) Get(ctx context.Context) (map[string]any, error) {
	out, _, err := c.do(ctx, c.rest.Get())
	return out, err
}

// Patch implements Object.
func (c *Client) Patch(ctx context.Context, patch map[string]any) (map[string]any, []string, error) {
	body, err := json.Marshal(patch)
	if err != nil {
		return nil, nil, fmt.Errorf("write patch: %w", err)
	}
	return c.do(ctx, c.rest.Patch(types.MergePatchType).Param("fieldManager", Program).
		Param("timeout", c.within.String()).Body(body))
}

// Delete implements Object.
func (c *Client) Delete(ctx context.Context, d Deletion) ([]string, error) {
	body, err := json.Marshal(metav1.DeleteOptions{
		TypeMeta:      metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions: &metav1.Preconditions{UID: &d.UID, ResourceVersion: &d.ResourceVersion}, GracePeriodSeconds: d.Grace,
	})
	if err != nil {
		return nil, fmt.Errorf("write deletion: %w", err)
	}
	_, warnings, err := c.do(ctx, c.rest.Delete().Param("timeout", c.within.String()).
		SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body))
	return warnings, err
}

// do sends a request about the target.
func (c *Client) do(ctx context.Context, r *rest.Request) (map[string]any, []string, error) {
	t := c.target
	return answered(ctx, r.AbsPath(c.prefix).NamespaceIfScoped(t.Namespace, t.Namespace != "").Resource(t.Resource).Name(t.Name))
}

// answered sends a request once.
func answered(ctx context.Context, r *rest.Request) (map[string]any, []string, error) {
	result := r.MaxRetries(0).Do(ctx)
	if err := result.Error(); err != nil {
		return nil, nil, err
	}
	raw, err := result.Raw()
	if err != nil {
		return nil, nil, err
	}
	var warnings []string
	for _, w := range result.Warnings() {
		warnings = append(warnings, w.Text)
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, nil, fmt.Errorf("read the answer: %w", err)
	}
	return out, warnings, nil
}
