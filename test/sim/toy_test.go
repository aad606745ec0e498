package sim_test

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/statecraft-dev/statecraft/internal/kube"
)

// mistake is one that controllers make, planted into the toy.
type mistake string

const (
	sound mistake = ""
	// A create without a name of its own is done twice when its answer is lost.
	nameless mistake = "nameless child"
	// What an effect used was not saved before it, so it is made up anew.
	notDurable mistake = "effect before it is durable"
	// What the cache does not show is taken for lost, and the whole thing is given up.
	believesCache mistake = "absence in the cache"
	believesError mistake = "error taken for absence"
	// A child whose name is taken is replaced, whoever made it.
	replaces mistake = "child replaced"
	// The state is saved whatever it has become meanwhile.
	overwrites mistake = "save without a version"
	givesUp    mistake = "gives up on a conflict"
	// What an event said is remembered, and not looked at again.
	remembers mistake = "event remembered"
	// A deadline is taken before it is known whether the work is done.
	impatient mistake = "deadline before success"
	amnesiac  mistake = "lost status starts anew"
	// Whether a child exists is looked up in the cache, and its name proves nothing.
	looksInCache mistake = "child looked up in the cache"
	// The next pass comes by the event of the own save, but not while in a pass.
	awaitsEcho mistake = "waits for its own event"
	// Passes that follow each other closely are taken for trouble.
	nervous mistake = "counts passes"
	// The first failure is survived, the second is not.
	tired    mistake = "second failure gives up"
	restless mistake = "writes at the end"
	// Not one: it asks more often in the run without faults than in any other.
	fickle mistake = "asks now more, now less"
)

// The phases of an order.
const (
	making  = "Making"
	ready   = "Ready"
	closing = "Closing"
	closed  = "Closed"
	failed  = "Failed"
)

// toy is a small controller: for a ConfigMap, the order, it makes a Secret with a
// key that it makes up, and removes it when another ConfigMap, the need, is gone.
// The data of the order is its status.
type toy struct {
	env     kube.Env
	mistake mistake
	needed  func() bool // what events said, if it remembers
	order   client.ObjectKey
	busy    bool      // in a pass
	last    time.Time // pass over an order that is ready
}

const soon = time.Nanosecond

// Reconcile implements reconcile.Reconciler.
func (t *toy) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if req.NamespacedName != t.order {
		return reconcile.Result{}, nil
	}
	t.busy = true
	defer func() { t.busy = false }()
	var order corev1.ConfigMap
	if err := t.env.Client.Get(ctx, req.NamespacedName, &order); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if t.mistake == fickle && strings.HasSuffix(t.order.Namespace, "-0") {
		if err := t.env.Client.Get(ctx, req.NamespacedName, &order); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
	}
	was := order.Data["phase"]
	err := t.act(ctx, &order)
	if apierrors.IsConflict(err) && t.mistake == givesUp {
		err = t.save(ctx, &order, failed, "")
	}
	if err != nil || order.Data["phase"] == was || t.mistake == awaitsEcho {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: soon}, nil
}

func (t *toy) act(ctx context.Context, order *corev1.ConfigMap) error {
	switch order.Data["phase"] {
	case "":
		return t.begin(ctx, order)
	case making:
		return t.make(ctx, order)
	case ready:
		return t.keep(ctx, order)
	case closing:
		return t.close(ctx, order)
	}
	if t.mistake == restless {
		return t.save(ctx, order, closed, rand.Text())
	}
	return nil
}

// begin finds out where an order without a status stands.
func (t *toy) begin(ctx context.Context, order *corev1.ConfigMap) error {
	if t.mistake == amnesiac || t.mistake == notDurable {
		return t.save(ctx, order, making, rand.Text())
	}
	child, err := t.child(ctx, t.env.Live)
	if err != nil {
		return err
	}
	needed, err := t.exists(ctx, t.env.Live, "need")
	switch {
	case err != nil:
		return err
	case !needed && child == nil:
		return t.save(ctx, order, closed, "")
	case !needed:
		return t.save(ctx, order, closing, "")
	case child != nil:
		return t.save(ctx, order, making, string(child.Data["key"]))
	}
	return t.save(ctx, order, making, rand.Text())
}

// late says that a deadline is over, for those who have one.
func (t *toy) late(order *corev1.ConfigMap) bool {
	within, hurries := map[mistake]time.Duration{impatient: time.Minute, awaitsEcho: time.Hour}[t.mistake]
	began, err := time.Parse(time.RFC3339, order.Data["since"])
	return hurries && err == nil && t.env.Now().Sub(began) > within
}

func (t *toy) make(ctx context.Context, order *corev1.ConfigMap) error {
	if t.late(order) {
		return t.save(ctx, order, failed, "")
	}
	child := t.newChild(order)
	switch t.mistake {
	case looksInCache:
		if there, err := t.child(ctx, t.env.Client); err != nil || there != nil {
			return errors.Join(err, t.save(ctx, order, ready, order.Data["key"]))
		}
		child.Name, child.GenerateName = "", "child-"
	case nameless:
		child.Name, child.GenerateName = "", "child-"
	case notDurable:
		child.Data["key"] = []byte(rand.Text())
	}
	return t.create(ctx, order, child)
}

func (t *toy) create(ctx context.Context, order *corev1.ConfigMap, child *corev1.Secret) error {
	err := t.env.Client.Create(ctx, child)
	if apierrors.IsAlreadyExists(err) && t.mistake == replaces {
		err = errors.Join(t.env.Client.Delete(ctx, t.newChild(order)), t.env.Client.Create(ctx, t.newChild(order)))
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		if t.mistake == tired {
			return t.countFailure(ctx, order, err)
		}
		return err
	}
	return t.save(ctx, order, ready, string(child.Data["key"]))
}

func (t *toy) countFailure(ctx context.Context, order *corev1.ConfigMap, cause error) error {
	if order.Data["failed"] != "" {
		return t.save(ctx, order, failed, "")
	}
	order.Data["failed"] = "once"
	return errors.Join(cause, t.env.Client.Update(ctx, order))
}

// keep watches over the child, and closes when it is not needed any more.
func (t *toy) keep(ctx context.Context, order *corev1.ConfigMap) error {
	since := t.env.Now().Sub(t.last)
	if t.last = t.env.Now(); t.mistake == nervous && since > time.Millisecond && since < 10*time.Second {
		return t.save(ctx, order, failed, "")
	}
	child, err := t.child(ctx, t.env.Client)
	if err == nil && (child == nil && t.mistake != believesCache || t.mistake == believesError) {
		child, err = t.child(ctx, t.env.Live)
	}
	if err != nil && t.mistake != believesError {
		return err
	}
	if child == nil { // somebody deleted it: the order is over
		return t.env.Client.Delete(ctx, order, client.Preconditions{UID: &order.UID, ResourceVersion: &order.ResourceVersion})
	}
	needed, err := t.isNeeded(ctx)
	if err != nil || needed {
		return err
	}
	return t.save(ctx, order, closing, "")
}

func (t *toy) isNeeded(ctx context.Context) (bool, error) {
	if t.mistake == remembers {
		return t.needed(), nil
	}
	needed, err := t.exists(ctx, t.env.Client, "need")
	if err == nil && !needed {
		needed, err = t.exists(ctx, t.env.Live, "need")
	}
	return needed, err
}

func (t *toy) close(ctx context.Context, order *corev1.ConfigMap) error {
	child, err := t.child(ctx, t.env.Live)
	if err != nil {
		return err
	}
	if child == nil {
		return t.save(ctx, order, closed, "")
	}
	err = t.env.Client.Delete(ctx, child, client.Preconditions{UID: &child.UID})
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	return t.close(ctx, order)
}

func (t *toy) newChild(order *corev1.ConfigMap) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: t.order.Namespace, Name: "child", Labels: map[string]string{"of": t.order.Name},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(order, orderKind)},
		},
		Data: map[string][]byte{"key": []byte(order.Data["key"])},
	}
}

// child is nil if there is none.
func (t *toy) child(ctx context.Context, from client.Reader) (*corev1.Secret, error) {
	var children corev1.SecretList
	if err := from.List(ctx, &children, client.InNamespace(t.order.Namespace), client.MatchingLabels{"of": t.order.Name}); err != nil {
		return nil, err
	}
	if len(children.Items) == 0 {
		return nil, nil
	}
	return &children.Items[0], nil
}

func (t *toy) exists(ctx context.Context, from client.Reader, name string) (bool, error) {
	err := from.Get(ctx, client.ObjectKey{Namespace: t.order.Namespace, Name: name}, &corev1.ConfigMap{})
	return err == nil, client.IgnoreNotFound(err)
}

func (t *toy) save(ctx context.Context, order *corev1.ConfigMap, phase, key string) error {
	if t.mistake == overwrites {
		order.ResourceVersion = ""
	}
	order.Data = map[string]string{"phase": phase, "key": key, "since": t.env.Now().UTC().Format(time.RFC3339)}
	return t.env.Client.Update(ctx, order)
}
