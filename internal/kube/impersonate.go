package kube

import (
	"errors"
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Impersonator acts as other users: the API server holds its clients to what those may do,
// escalation of roles included. The clients read past the cache.
type Impersonator struct {
	Config *rest.Config
	Scheme *runtime.Scheme
	Mapper apimeta.RESTMapper
}

// Impersonator is that of the area's own account.
func (a *Area) Impersonator() Impersonator {
	return Impersonator{Config: a.mgr.GetConfig(), Scheme: a.mgr.GetScheme(), Mapper: a.mgr.GetRESTMapper()}
}

// Account is a ServiceAccount as somebody to act as. No groups are named: the API server adds
// its groups itself, and the manager needs no right to impersonate groups.
func Account(namespace, name string) *meta.Requester {
	return &meta.Requester{Username: "system:serviceaccount:" + namespace + ":" + name}
}

// Client acts as somebody.
func (i Impersonator) Client(who *meta.Requester) (client.Client, error) {
	as, err := Impersonate(i.Config, who)
	if err != nil {
		return nil, err
	}
	c, err := client.New(as, client.Options{Scheme: i.Scheme, Mapper: i.Mapper})
	if err != nil {
		return nil, fmt.Errorf("make client of %s: %w", who.Username, err)
	}
	return c, nil
}

// Reader reads as somebody, and can do nothing else: it is what observers get.
func (i Impersonator) Reader(who *meta.Requester) (read.Live, error) {
	c, err := i.Client(who)
	return read.Live{Reader: c}, err
}

// errNobody keeps a client without a user from acting as the manager itself.
var errNobody = errors.New("impersonate: no user is named")

// Impersonate is cfg as somebody: username, uid, groups and extra.
func Impersonate(cfg *rest.Config, who *meta.Requester) (*rest.Config, error) {
	if who == nil || who.Username == "" {
		return nil, errNobody
	}
	as := rest.CopyConfig(cfg)
	as.Impersonate = rest.ImpersonationConfig{UserName: who.Username, UID: who.UID, Groups: who.Groups}
	for key, values := range who.Extra {
		if as.Impersonate.Extra == nil {
			as.Impersonate.Extra = map[string][]string{}
		}
		as.Impersonate.Extra[key] = values
	}
	return as, nil
}
