package perform

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/statecraft-dev/statecraft/internal/remediation/action"
)

// onNode are pods of the node of a cluster, by namespace and name.
type onNode map[string]map[string]any

// aPod is a pod of a ReplicaSet; more is merged into it.
func aPod(name, more string) map[string]any {
	namespace, name, _ := strings.Cut(name, "/")
	return action.Apply(decode(fmt.Sprintf(`{"metadata":{"namespace":%q,"name":%q,"uid":%q,"ownerReferences":[{"kind":"ReplicaSet","name":"web","controller":true}]},
		"status":{"phase":"Running"}}`, namespace, name, "uid-"+name)), decode(more))
}

func node() map[string]any {
	return decode(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"web","uid":"u1","resourceVersion":"10"},"spec":{"podCIDR":"10.0.0.0/24"}}`)
}

// Pods implements Object.
func (c *cluster) Pods(ctx context.Context) (all []map[string]any, err error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	_, err = c.ask("LIST", func() (map[string]any, error) {
		for _, pod := range c.pods {
			all = append(all, pod)
		}
		return nil, nil
	})
	return all, err
}

// Evict implements Object.
func (c *cluster) Evict(ctx context.Context, p action.Pod, _ *int64) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	_, err := c.ask(http.MethodPost, func() (map[string]any, error) {
		pod, is := c.pods[p.String()]
		switch {
		case !is:
			return nil, apierrors.NewNotFound(deployments, p.Name)
		case pod["metadata"].(map[string]any)["uid"] != string(p.UID):
			return nil, apierrors.NewConflict(deployments, p.Name, errLost)
		case c.object["spec"].(map[string]any)["unschedulable"] != true || action.ReadToken(c.object, execution) != action.Started:
			c.early = true // nothing is evicted before the node says that it has begun
		}
		c.evicted = append(c.evicted, p.String())
		delete(c.pods, p.String())
		return nil, nil
	})
	return err
}

func draining(p action.Params) action.Command {
	is, err := action.ReadOf("drain_node", node(), p)
	if err != nil {
		panic(err)
	}
	return action.Command{
		Action: "drain_node", Execution: execution, Footprint: is.Hash, Parameters: p, Timeout: time.Minute,
		Target: action.Target{APIVersion: "v1", Kind: "Node", Resource: "nodes", Name: "web", UID: "u1"},
	}
}

const (
	emptyDir  = `{"spec":{"volumes":[{"name":"a","emptyDir":{}}]}}`
	alone     = `{"metadata":{"ownerReferences":null}}`
	ofADaemon = `{"metadata":{"ownerReferences":[{"kind":"DaemonSet","name":"ds","controller":true}]}}`
	mirrors   = `{"metadata":{"ownerReferences":null,"annotations":{"kubernetes.io/config.mirror":"x"}}}`
	ofAnother = `{"metadata":{"labels":{"remediation.statecraft.dev/execution":"e9"}}}`
)

// comes is a pod that is bound to the node; goes is one that has ended.
func comes(name, more string) func(*cluster) {
	return func(c *cluster) { c.pods[name] = aPod(name, more) }
}
func goes(name string) func(*cluster) { return func(c *cluster) { delete(c.pods, name) } }
func uncordon(c *cluster)             { c.write(`{"spec":{"unschedulable":null}}`) }
func started(c *cluster) {
	c.write(`{"spec":{"unschedulable":true},"metadata":{"annotations":{"remediation.statecraft.dev/last-action":"e1/started"}}}`)
}

var budget = apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)

// What a drain does is done to the node that was approved, begins with the token, and is told as it is:
// Applied with a reason if it was done in part.
func TestDrains(t *testing.T) {
	for say, o := range map[string]struct {
		pods    onNode
		params  action.Params
		faults  map[string]fault
		effect  any
		reason  string
		says    string // is in the error
		evicted []string
		token   action.State
	}{
		"an empty node":       {effect: applied, token: action.Done},
		"pods of controllers": {pods: onNode{"shop/a": nil, "shop/b": nil}, effect: applied, evicted: []string{"shop/a", "shop/b"}, token: action.Done},
		"what stays": {pods: onNode{"kube-system/d": aPod("kube-system/d", ofADaemon), "kube-system/m": aPod("kube-system/m", mirrors),
			"shop/e": aPod("shop/e", `{"metadata":{"ownerReferences":null},"status":{"phase":"Succeeded"}}`)}, effect: applied, token: action.Done},
		"data that would be lost": {pods: onNode{"shop/a": nil, "shop/e": aPod("shop/e", emptyDir)}, effect: notApplied, reason: action.ReasonFailed,
			says: "Nothing was done, because 1 pods of Node web may not be evicted: shop/e has an emptyDir volume: set parameter deleteEmptyDirData to lose its data."},
		"a pod of nobody": {pods: onNode{"shop/e": aPod("shop/e", alone)}, effect: notApplied, reason: action.ReasonFailed,
			says: "shop/e has no controller, so no other is made: set parameter force to evict it"},
		"all of it, as it was asked for": {pods: onNode{"shop/a": aPod("shop/a", emptyDir), "shop/b": aPod("shop/b", alone)},
			params: action.Params{"deleteEmptyDirData": true, "force": true}, effect: applied, evicted: []string{"shop/a", "shop/b"}, token: action.Done},
		"the pod of another action is waited for": {pods: onNode{"shop/x": aPod("shop/x", ofAnother)}, faults: map[string]fault{"LIST 3": first(goes("shop/x"))},
			effect: applied, token: action.Done},
		"a pod of an action that does not end": {pods: onNode{"shop/a": nil, "shop/x": aPod("shop/x", ofAnother)}, effect: applied, reason: action.ReasonIncomplete,
			says: "1 pods are left: shop/x has not ended yet.", evicted: []string{"shop/a"}, token: action.Started},
		"a budget that opens": {pods: onNode{"shop/a": nil}, faults: map[string]fault{"POST 1": failing(budget), "POST 2": failing(budget)}, effect: applied,
			evicted: []string{"shop/a"}, token: action.Done},
		"a budget that stays closed": {pods: onNode{"shop/a": nil}, faults: map[string]fault{"POST": failing(budget)}, effect: applied, reason: action.ReasonIncomplete,
			says: "Node web is cordoned and 0 of its pods were evicted, and then the action ended, because its time was over, or it was told to stop. " +
				"1 pods are left: shop/a is not evicted: Cannot evict pod", token: action.Started},
		"a pod without data comes meanwhile": {faults: map[string]fault{"PATCH 1": first(comes("shop/n", "{}"))}, effect: applied, evicted: []string{"shop/n"}, token: action.Done},
		"one with data comes meanwhile": {pods: onNode{"shop/a": nil}, faults: map[string]fault{"PATCH 1": first(comes("shop/n", emptyDir))}, effect: applied,
			reason: action.ReasonIncomplete, says: "shop/n has an emptyDir volume", evicted: []string{"shop/a"}, token: action.Started},
		"the node is another one": {pods: onNode{"shop/a": nil}, faults: map[string]fault{"GET 1": first(recreate)}, effect: notApplied, reason: action.ReasonTargetChanged, says: "another one has its name"},
		"somebody cordons it":     {pods: onNode{"shop/a": nil}, faults: map[string]fault{"PATCH 1": first(cordoned)}, effect: notApplied, reason: action.ReasonTargetChanged, says: "was changed after it was approved"},
		"somebody uncordons it": {pods: onNode{"shop/a": nil}, faults: map[string]fault{"POST 1": failing(budget), "GET 3": first(uncordon)}, effect: applied,
			reason: action.ReasonIncomplete, says: "another client has changed the node since", token: action.Started},
		"the first answer is lost": {pods: onNode{"shop/a": nil}, faults: map[string]fault{"PATCH 1": lostAfter()}, effect: applied, evicted: []string{"shop/a"}, token: action.Done},
		"the first write is lost":  {pods: onNode{"shop/a": nil}, faults: map[string]fault{"PATCH 1": lostBefore()}, effect: applied, evicted: []string{"shop/a"}, token: action.Done},
		"an answer to an eviction is lost": {pods: onNode{"shop/a": nil}, faults: map[string]fault{"POST 1": lostAfter()}, effect: applied, evicted: []string{"shop/a"},
			token: action.Done},
		"the last write is lost": {pods: onNode{"shop/a": nil}, faults: map[string]fault{"PATCH 2": lostAfter()}, effect: applied, evicted: []string{"shop/a"}, token: action.Done},
		"another run has begun":  {pods: onNode{"shop/a": nil}, faults: map[string]fault{"GET 1": first(started)}, effect: unknown, says: "An earlier run", token: action.Started},
		"pods cannot be read":    {faults: map[string]fault{"LIST": failing(forbidden)}, effect: notApplied, reason: action.ReasonFailed, says: "is forbidden"},
	} {
		t.Run(say, func(t *testing.T) {
			c := clusterOf(node, o.faults)
			c.pods = onNode{}
			for name, pod := range o.pods {
				if c.pods[name] = pod; pod == nil {
					c.pods[name] = aPod(name, "{}")
				}
			}
			r := c.expiring(t, c, draining(o.params))
			if r.Effect != o.effect || r.Reason != o.reason || !strings.Contains(r.Error, o.says) || (o.says == "") != (r.Error == "") {
				t.Errorf("%+v", r)
			}
			if diff := cmp.Diff(o.evicted, c.evicted); diff != "" || c.early {
				t.Errorf("early: %t, %s", c.early, diff)
			}
			if is := action.ReadToken(c.object, execution); is != o.token {
				t.Errorf("the node bears %q", is)
			}
			if parsed, err := action.ParseReport(r.JSON()); err != nil || parsed.Effect != r.Effect {
				t.Errorf("%v in %s", err, r.JSON())
			}
		})
	}
}

func cordoned(c *cluster) { c.write(`{"spec":{"unschedulable":true}}`) }

// A drain of many pods names the first of them, and counts them all.
func TestADrainOfManyPods(t *testing.T) {
	c := clusterOf(node, nil)
	c.pods = onNode{}
	for i := range 30 {
		name := fmt.Sprintf("shop/pod-%02d", i)
		c.pods[name] = aPod(name, "{}")
	}
	r := Perform(t.Context(), c, draining(nil), brief)
	if r.Effect != applied || r.Affected != 31 || len(r.Resources) != 20 || r.Resources[0].Name != "pod-00" || r.Resources[0].Action != "evicted" || r.After == "" {
		t.Errorf("%+v", r)
	}
	if len(r.JSON()) > action.MaxReport {
		t.Errorf("%d bytes", len(r.JSON()))
	}
}

// A drain is told to stop by a signal: what it has begun it reports, with an exit code by which its Job fails.
func TestADrainThatIsStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	c := clusterOf(node, map[string]fault{"POST 1": first(func(*cluster) { stop() })})
	c.pods = onNode{"shop/a": aPod("shop/a", "{}"), "shop/b": aPod("shop/b", "{}")}
	r := Perform(ctx, c, draining(nil), brief)
	if r.Effect != applied || r.Reason != action.ReasonIncomplete || exitCode(r) == exitApplied || len(c.evicted) != 1 || !strings.Contains(r.Error, "2 pods are left: shop/a has not ended yet; shop/b.") {
		t.Errorf("%d: %+v", exitCode(r), r)
	}
}
