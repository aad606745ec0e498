package perform

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
)

// cluster has one object, a Deployment if nothing else is said, and does with it what an API server does
// as far as an action can tell: a write is for one UID and one resourceVersion, a generation counts changes
// of the spec, and a deletion without a grace period takes the object away at once.
type cluster struct {
	mu      sync.Mutex
	make    func() map[string]any            // makes the object anew
	object  map[string]any                   // nil: it is gone
	effects int                              // writes that left the token of the execution, and its deletions
	writes  int                              // patches and deletions that arrived
	late    []func() (map[string]any, error) // writes whose senders have given up
	faults  map[string]fault                 // by method and count, as in "PATCH 1"; "PATCH" is any other
	asked   map[string]int
	pods    onNode   // of a node
	evicted []string // in order
	early   bool     // one was evicted before the drain had begun
	expire  func()   // is called when the time of the action is over: after some requests
}

// fault is what happens to a request in place of its answer. It may let the cluster do the request.
type fault func(c *cluster, do func() (map[string]any, error)) (map[string]any, error)

// errLost is that the connection broke.
var errLost = errors.New("connection reset by peer")

const execution = "e1"

func web() map[string]any {
	return decode(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","uid":"u1","resourceVersion":"10","generation":3},
		"spec":{"replicas":2,"template":{"spec":{"containers":[{"name":"app","image":"web:1"}]}}},"status":{"replicas":2}}`)
}

func decode(text string) map[string]any {
	out := map[string]any{}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		panic(err)
	}
	return out
}

func newCluster(faults map[string]fault) *cluster {
	return clusterOf(web, faults)
}

func clusterOf(target func() map[string]any, faults map[string]fault) *cluster {
	return &cluster{make: target, object: target(), faults: faults, asked: map[string]int{}}
}

// pod is what command remove deletes.
func pod() map[string]any {
	return decode(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"shop","uid":"u1","resourceVersion":"10","generation":1,
		"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-1","uid":"r1","controller":true}]},"spec":{"nodeName":"n1"},"status":{"phase":"Running"}}`)
}

// Get implements Object.
func (c *cluster) Get(ctx context.Context) (map[string]any, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return c.ask(http.MethodGet, func() (map[string]any, error) {
		if c.object == nil {
			return nil, apierrors.NewNotFound(deployments, "web")
		}
		return c.object, nil
	})
}

// Patch implements Object.
func (c *cluster) Patch(ctx context.Context, patch map[string]any) (map[string]any, []string, error) {
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	out, err := c.ask(http.MethodPatch, func() (map[string]any, error) { return c.patch(patch) })
	return out, nil, err
}

// Delete implements Object.
func (c *cluster) Delete(ctx context.Context, d Deletion) ([]string, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	_, err := c.ask(http.MethodDelete, func() (map[string]any, error) { return c.delete(d) })
	return nil, err
}

// delete is what the API server does with a deletion.
func (c *cluster) delete(d Deletion) (map[string]any, error) {
	c.writes++
	if c.object == nil {
		return nil, apierrors.NewNotFound(deployments, "web")
	}
	is := c.object["metadata"].(map[string]any)
	if string(d.UID) != is["uid"] || d.ResourceVersion != is["resourceVersion"] {
		return nil, apierrors.NewConflict(deployments, "web", errors.New("the precondition does not hold"))
	}
	c.effects++
	if d.Grace != nil && *d.Grace == 0 {
		c.object = nil
		return nil, nil
	}
	begin(c)
	return c.object, nil
}

var deployments = schema.GroupResource{Group: "apps", Resource: "deployments"}

func (c *cluster) ask(method string, do func() (map[string]any, error)) (map[string]any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked[method]++
	if c.expire != nil && c.asked[http.MethodGet]+c.asked[http.MethodPatch]+c.asked[http.MethodDelete] > 8 {
		c.expire()
	}
	f, is := c.faults[fmt.Sprintf("%s %d", method, c.asked[method])]
	if !is {
		f = c.faults[method]
	}
	if f == nil {
		return do()
	}
	return f(c, do)
}

// patches is how many patches and deletions were sent.
func (c *cluster) patches() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.asked[http.MethodPatch] + c.asked[http.MethodDelete]
}

// patch is what the API server does with a merge patch.
func (c *cluster) patch(patch map[string]any) (map[string]any, error) {
	c.writes++
	if c.object == nil {
		return nil, apierrors.NewNotFound(deployments, "web")
	}
	is, want := c.object["metadata"].(map[string]any), patch["metadata"].(map[string]any)
	if want["uid"] != is["uid"] {
		return nil, invalid("metadata.uid", "field is immutable")
	}
	if want["resourceVersion"] != is["resourceVersion"] {
		return nil, apierrors.NewConflict(deployments, "web", errors.New("the object has been modified"))
	}
	before := action.ReadToken(c.object, execution)
	c.store(action.Apply(c.object, patch))
	if before == "" && action.ReadToken(c.object, execution) == action.Done {
		c.effects++
	}
	return c.object, nil
}

func invalid(field, say string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid, Message: field + ": " + say,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldValueInvalid, Field: field, Message: say}}},
	}}
}

// store replaces the object, and counts.
func (c *cluster) store(next map[string]any) {
	was, _ := json.Marshal(c.object["spec"])
	is, _ := json.Marshal(next["spec"])
	old := c.object["metadata"].(map[string]any)
	metadata := next["metadata"].(map[string]any)
	n, _ := strconv.Atoi(old["resourceVersion"].(string))
	metadata["resourceVersion"] = strconv.Itoa(n + 1)
	generation, counts := old["generation"].(int64) // nodes have none
	if counts && string(was) != string(is) {
		generation++
	}
	if counts {
		metadata["generation"] = generation
	}
	c.object = next
}

// write is a write of somebody else.
func (c *cluster) write(patch string) {
	if c.object != nil {
		c.store(action.Apply(c.object, decode(patch)))
	}
}

// replace is what kubectl replace does without a resourceVersion: it drops what others added, but for a
// deletion that has begun.
func (c *cluster) replace() {
	next, is := c.make(), c.object["metadata"].(map[string]any)
	next["metadata"].(map[string]any)["uid"] = is["uid"]
	if at := is["deletionTimestamp"]; at != nil {
		next["metadata"].(map[string]any)["deletionTimestamp"] = at
	}
	c.store(next)
}

// arrive lets late writes arrive.
func (c *cluster) arrive() {
	late := c.late
	c.late = nil
	for _, do := range late {
		_, _ = do()
	}
}

// scale is the command that an execution approved: from 2 replicas to 5.
func scale() action.Command {
	p := action.Params{"replicas": int64(5)}
	is, err := action.ReadOf("scale_deployment", web(), p)
	if err != nil {
		panic(err)
	}
	return action.Command{
		Action: "scale_deployment", Execution: execution, Footprint: is.Hash, Parameters: p, Timeout: time.Minute,
		Target: action.Target{APIVersion: "apps/v1", Kind: "Deployment", Resource: "deployments", Namespace: "shop", Name: "web", UID: "u1"},
	}
}

func restart() action.Command {
	c := scale()
	c.Action, c.Parameters = "rollout_restart", action.Params{}
	is, err := action.ReadOf(c.Action, web(), c.Parameters)
	if err != nil {
		panic(err)
	}
	c.Footprint = is.Hash
	return c
}

// deletion is the command that deletes the pod, at once or as it says itself.
func deletion(p action.Params) func() action.Command {
	return func() action.Command {
		is, err := action.ReadOf("delete_pod", pod(), p)
		if err != nil {
			panic(err)
		}
		return action.Command{
			Action: "delete_pod", Execution: execution, Footprint: is.Hash, Parameters: p, Timeout: time.Minute,
			Target: action.Target{APIVersion: "v1", Kind: "Pod", Resource: "pods", Namespace: "shop", Name: "web", UID: "u1"},
		}
	}
}

// brief waits for next to nothing.
var brief = Patience{Read: time.Second, Write: time.Second, Conflict: time.Microsecond, Retry: time.Microsecond, Evict: time.Microsecond, Settle: 20 * time.Millisecond}

// limited is a context whose time is over when it is cancelled.
type limited struct{ context.Context }

func (l limited) Err() error {
	if l.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

// expiring performs a command whose time is over after some requests.
func (c *cluster) expiring(t *testing.T, o Object, command action.Command) action.Report {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c.expire = cancel
	return Perform(limited{ctx}, o, command, brief)
}

// hold fails unless the report is true of the cluster, and the action was done at most once.
func (c *cluster) hold(t testing.TB, r action.Report) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.arrive()
	switch {
	case c.effects > 1:
		t.Errorf("%d effects", c.effects)
	case r.Effect == remediationv1.EffectApplied && c.effects != 1, r.Effect == remediationv1.EffectNotApplied && c.effects != 0:
		t.Errorf("%d effects, and the report says %s: %s", c.effects, r.Effect, r.Error)
	}
}
