// Package manifest says what a capture takes of a namespace: which resources it reads, in
// which order, which objects it leaves out and why, and what it strips off the others. It
// is pure.
//
// Objects are handled as the bytes in which the API server sent them. Most of them are
// copied as they are; decoding each only to encode it again would take longer than to read it.
package manifest

import (
	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
)

// Why objects are left out.
const (
	ReasonControlled   meta.Reason = "Controlled"   // a controller makes it again from what it belongs to
	ReasonDerived      meta.Reason = "Derived"      // the cluster itself makes it in every namespace, or from other objects
	ReasonToken        meta.Reason = "Token"        // it is a token of a ServiceAccount, which is of no use elsewhere
	ReasonFinished     meta.Reason = "Finished"     // it has run, and would run again
	ReasonTerminating  meta.Reason = "Terminating"  // it was being deleted
	ReasonOwnRequest   meta.Reason = "OwnRequest"   // a restored request would capture or restore again, and what it keeps goes with it
	ReasonOwnAccount   meta.Reason = "OwnAccount"   // by it the namespace is captured and restored; the one that is restored into has its own
	ReasonNotAllowed   meta.Reason = "NotAllowed"   // the account may not list it, and the request leaves such out; they were not looked at
	ReasonNotAsked     meta.Reason = "NotAsked"     // Secrets, without includeSecrets; they were not looked at
	ReasonNotAtOneTime meta.Reason = "NotAtOneTime" // it is served by another server, or kept apart: it cannot be read at the moment of the others
)

// Resource is a resource of the API, and the kind of its objects.
type Resource struct {
	Group, Version, Resource, Kind string
	// Aggregated says that another server serves it.
	Aggregated bool
}

// Title is how a person names it, as in deployments.apps.
func (r Resource) Title() string {
	if r.Group == "" {
		return r.Resource
	}
	return r.Resource + "." + r.Group
}

// is says that it is that resource, of whatever version.
func (r Resource) is(group, resource string) bool { return r.Group == group && r.Resource == resource }

// Secrets says that it holds secrets.
func (r Resource) Secrets() bool { return r.is("", "secrets") }

// never is why no object of a resource is ever taken, if so.
func (r Resource) never() (meta.Reason, bool) {
	switch {
	case r.Aggregated, r.is("", "events"), r.is("events.k8s.io", "events"):
		return ReasonNotAtOneTime, true
	case r.is("coordination.k8s.io", "leases"):
		return ReasonDerived, true
	// Restored, each would be done again.
	case r.Group == capturev1.GroupName, r.Group == "remediation.statecraft.dev", r.is("valkey.statecraft.dev", "valkeyupgrades"):
		return ReasonOwnRequest, true
	}
	return "", false
}
