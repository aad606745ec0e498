package perform

import (
	"errors"
	"fmt"
	"net"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/remediation/action"
)

// What can happen to a request.

// failing answers with an error and does nothing.
func failing(err error) fault {
	return func(*cluster, func() (map[string]any, error)) (map[string]any, error) { return nil, err }
}

// lostAfter does the request, and then what follows; the answer is lost.
func lostAfter(then ...func(*cluster)) fault {
	return func(c *cluster, do func() (map[string]any, error)) (map[string]any, error) {
		_, _ = do()
		for _, f := range then {
			f(c)
		}
		return nil, errLost
	}
}

// lostBefore does not do the request, but what follows.
func lostBefore(then ...func(*cluster)) fault {
	return func(c *cluster, _ func() (map[string]any, error)) (map[string]any, error) {
		for _, f := range then {
			f(c)
		}
		return nil, errLost
	}
}

// first lets others write before the request is done.
func first(then ...func(*cluster)) fault {
	return func(c *cluster, do func() (map[string]any, error)) (map[string]any, error) {
		for _, f := range then {
			f(c)
		}
		return do()
	}
}

// What others do.
func writeStatus(c *cluster) { c.write(fmt.Sprintf(`{"status":{"observed":%d}}`, c.writes)) }
func resize(c *cluster) {
	c.write(fmt.Sprintf(`{"spec":{"replicas":%d}}`, 100+c.writes+c.asked["GET"]))
}
func pause(c *cluster)  { c.write(`{"spec":{"paused":true}}`) }
func remove(c *cluster) { c.object = nil }
func undo(c *cluster)   { c.replace() }
func begin(c *cluster)  { c.write(`{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}`) }
func recreate(c *cluster) {
	c.object = c.make()
	c.object["metadata"].(map[string]any)["uid"] = "u2"
}

var (
	timeout   = apierrors.NewTimeoutError("etcd is slow", 1)
	internal  = apierrors.NewInternalError(errors.New("etcdserver: request timed out"))
	webhook   = apierrors.NewInternalError(errors.New(`failed calling webhook "quota.example": connection refused`))
	busyNow   = apierrors.NewTooManyRequests("later", 0)
	down      = &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: 503, Reason: metav1.StatusReasonServiceUnavailable}}
	forbidden = apierrors.NewForbidden(deployments, "web", errors.New("policy x denied it"))
	undialled = &net.OpError{Op: "dial", Err: errors.New("connection refused")}
)

type outcome struct {
	object     func() map[string]any // web if it is not given
	command    func() action.Command
	faults     map[string]fault
	effect     remediationv1.Effect
	reason     string
	say        string
	effects    int
	writes     int // at most
	afterKnown bool
	idle       bool // nothing is written
}

const (
	applied    = remediationv1.EffectApplied
	notApplied = remediationv1.EffectNotApplied
	unknown    = remediationv1.EffectUnknown
)

func (o outcome) try(t *testing.T) {
	c := newCluster(o.faults)
	if o.object != nil {
		c = clusterOf(o.object, o.faults)
	}
	command := scale
	if o.command != nil {
		command = o.command
	}
	r := c.expiring(t, c, command())
	c.hold(t, r)
	if r.Effect != o.effect || r.Reason != o.reason || r.Error != o.say || (r.After != "") != o.afterKnown {
		t.Errorf("%+v", r)
	}
	if c.effects != o.effects || o.writes != 0 && c.patches() > o.writes {
		t.Errorf("%d effects, %d writes", c.effects, c.patches())
	}
	if o.idle && c.patches() > 0 {
		t.Error("it wrote")
	}
}

func TestOutcomes(t *testing.T) {
	const changed = "Deployment web was changed after it was approved, in the fields that the action works on."
	const replaced = "Deployment web was deleted after it was approved, and another one has its name."
	const others = "The action wrote Deployment web, and the answer was lost: others have written the target since, and it does not bear the token of the execution"
	const forged = "Deployment web bears the token of this execution, and what the action changes is as it was when it was approved: " +
		"another client wrote the token, or took the change back; this run did nothing."
	for say, o := range map[string]outcome{
		"the target is as approved": {effect: applied, effects: 1, writes: 1, afterKnown: true},
		"the target is gone":        {faults: map[string]fault{"GET 1": first(remove)}, effect: notApplied, reason: action.ReasonTargetChanged, say: "Deployment web is gone."},
		"another one has its name":  {faults: map[string]fault{"GET 1": first(recreate)}, effect: notApplied, reason: action.ReasonTargetChanged, say: replaced},
		"it was changed":            {faults: map[string]fault{"GET 1": first(resize)}, effect: notApplied, reason: action.ReasonTargetChanged, say: changed},
		"it is being deleted":       {faults: map[string]fault{"GET 1": first(begin)}, effect: notApplied, reason: action.ReasonTargetChanged, say: "Deployment web is being deleted."},
		"its rollouts are paused":   {command: restart, faults: map[string]fault{"GET 1": first(pause)}, effect: notApplied, reason: action.ReasonTargetChanged, say: "The rollouts of Deployment web are paused: resume them first."},
		"it cannot be read":         {faults: map[string]fault{"GET": failing(forbidden)}, effect: notApplied, reason: action.ReasonFailed, say: `The API server refuses it: deployments.apps "web" is forbidden: policy x denied it`},
		"it cannot be written":      {faults: map[string]fault{"PATCH": failing(forbidden)}, effect: notApplied, reason: action.ReasonFailed, say: `The API server refuses it: deployments.apps "web" is forbidden: policy x denied it`, writes: 1},
		"the write is invalid":      {faults: map[string]fault{"PATCH": failing(invalid("spec.replicas", "too many"))}, effect: notApplied, reason: action.ReasonFailed, say: "The API server refuses it: spec.replicas: too many", writes: 1},

		"it is changed before the write":        {faults: map[string]fault{"PATCH 1": first(resize)}, effect: notApplied, reason: action.ReasonTargetChanged, say: changed},
		"it is deleted before the write":        {faults: map[string]fault{"PATCH 1": first(remove)}, effect: notApplied, reason: action.ReasonTargetChanged, say: "Deployment web is gone."},
		"it is re-created before the write":     {faults: map[string]fault{"PATCH 1": first(recreate)}, effect: notApplied, reason: action.ReasonTargetChanged, say: replaced},
		"its status is written before":          {faults: map[string]fault{"PATCH 1": first(writeStatus)}, effect: applied, effects: 1, writes: 2, afterKnown: true},
		"it is resized while it is restarted":   {command: restart, faults: map[string]fault{"PATCH 1": first(resize)}, effect: applied, effects: 1, writes: 2, afterKnown: true},
		"its status is always written before":   {faults: map[string]fault{"PATCH": first(writeStatus)}, effect: notApplied, reason: action.ReasonTimeout, say: "The action had not written Deployment web when its 1m0s were over"},
		"the API server is busy for a while":    {faults: map[string]fault{"PATCH 1": failing(busyNow), "GET 1": failing(busyNow)}, effect: applied, effects: 1, writes: 2, afterKnown: true},
		"the API server is down for a while":    {faults: map[string]fault{"PATCH 1": failing(undialled), "GET 1": failing(undialled), "GET 3": failing(down)}, effect: applied, effects: 1, writes: 2, afterKnown: true},
		"the API server stays down":             {faults: map[string]fault{"GET": failing(undialled)}, effect: notApplied, reason: action.ReasonTimeout, say: "The action had not written Deployment web when its 1m0s were over; the last answer was: dial: connection refused"},
		"a webhook stays down":                  {faults: map[string]fault{"PATCH": failing(webhook)}, effect: notApplied, reason: action.ReasonTimeout, say: `The action had not written Deployment web when its 1m0s were over; the last answer was: Internal error occurred: failed calling webhook "quota.example": connection refused`},
		"the API server stays busy":             {faults: map[string]fault{"PATCH": failing(busyNow)}, effect: notApplied, reason: action.ReasonTimeout, say: "The action had not written Deployment web when its 1m0s were over; the last answer was: later"},
		"the store answers late, and did it":    {faults: map[string]fault{"PATCH 1": lostAfter()}, effect: applied, effects: 1, writes: 1, afterKnown: true},
		"the store answers late, and did not":   {faults: map[string]fault{"PATCH 1": failing(internal)}, effect: applied, effects: 1, writes: 2, afterKnown: true},
		"writes time out for a while":           {faults: map[string]fault{"PATCH 1": failing(timeout), "PATCH 2": lostBefore()}, effect: applied, effects: 1, writes: 3, afterKnown: true},
		"reads fail after a write that is lost": {faults: map[string]fault{"PATCH 1": lostAfter(), "GET 2": failing(down), "GET 3": failing(forbidden)}, effect: applied, effects: 1, writes: 1, afterKnown: true},

		"an answer is lost, and the status was written": {faults: map[string]fault{"PATCH 1": lostBefore(writeStatus)}, effect: applied, effects: 1, writes: 2, afterKnown: true},
		"an answer is lost, then the status is written": {faults: map[string]fault{"PATCH 1": lostAfter(writeStatus)}, effect: applied, effects: 1, writes: 1, afterKnown: true},
		"an answer is lost, then it is changed":         {faults: map[string]fault{"PATCH 1": lostAfter(resize)}, effect: applied, effects: 1, writes: 1},
		"an answer is lost, then it is undone":          {faults: map[string]fault{"PATCH 1": lostAfter(undo)}, effect: unknown, say: others, effects: 1, writes: 1},
		"an answer is lost, and it was changed":         {faults: map[string]fault{"PATCH 1": lostBefore(resize)}, effect: unknown, say: others, writes: 1},
		"an answer is lost, then it is deleted":         {faults: map[string]fault{"PATCH 1": lostAfter(remove)}, effect: unknown, say: "The action wrote Deployment web, and the answer was lost: since then: Deployment web is gone.", effects: 1},
		"an answer is lost, then it is re-created":      {faults: map[string]fault{"PATCH 1": lostAfter(recreate)}, effect: unknown, say: "The action wrote Deployment web, and the answer was lost: since then: " + replaced, effects: 1},
		"an answer is lost, and the next is a refusal":  {faults: map[string]fault{"PATCH 1": lostBefore(), "PATCH": failing(forbidden)}, effect: unknown, say: `The action wrote Deployment web, and the answer was lost: its 1m0s were over; the last answer was: deployments.apps "web" is forbidden: policy x denied it`},
		"an answer is lost, and reads are, too":         {faults: map[string]fault{"PATCH 1": lostAfter(), "GET 1": first(), "GET": failing(down)}, effect: unknown, say: "The action wrote Deployment web, and the answer was lost: its 1m0s were over; the last answer was: " + down.Error(), effects: 1, writes: 1},
		"all answers are lost":                          {faults: map[string]fault{"PATCH": lostBefore()}, effect: unknown, say: "The action wrote Deployment web, and the answer was lost: its 1m0s were over; the last answer was: " + errLost.Error()},
		"a first try left the token":                    {faults: map[string]fault{"GET 1": first(token)}, effect: applied, idle: true, effects: 1},
		"another client wrote the token":                {faults: map[string]fault{"GET 1": first(forge)}, effect: unknown, say: forged, idle: true},
		"it wrote the token, and paused the rollouts":   {command: restart, faults: map[string]fault{"GET 1": first(forge, pause)}, effect: unknown, say: forged, idle: true},
	} {
		t.Run(say, o.try)
	}
}

// forge is what any user may write who may write the target.
func forge(c *cluster) {
	c.write(`{"metadata":{"annotations":{"remediation.statecraft.dev/last-action":"e1/done"}}}`)
}

// token is what an earlier run of the same execution left.
func token(c *cluster) {
	c.write(`{"spec":{"replicas":5},"metadata":{"annotations":{"remediation.statecraft.dev/last-action":"e1/done"}}}`)
	c.effects++
}
