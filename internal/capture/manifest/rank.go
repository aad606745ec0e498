package manifest

import (
	"cmp"
	"slices"
)

// Ranks of resources: what has a lower one is restored first, so it is captured first.
const (
	RankAccount  = iota // who others run as
	RankPolicy          // what limits others: better there before they are
	RankConfig          // what others read
	RankClaim           // volumes
	RankOther           // kinds that we do not know, which may make or own workloads
	RankWorkload        // what runs
	RankScaler          // what changes workloads
	RankRoute           // what leads to them
)

// ranks by group and resource. Whatever is not in it is RankOther.
var ranks = map[string]int{
	"serviceaccounts":                        RankAccount,
	"roles.rbac.authorization.k8s.io":        RankAccount,
	"rolebindings.rbac.authorization.k8s.io": RankAccount,
	"resourcequotas":                         RankPolicy,
	"limitranges":                            RankPolicy,
	"networkpolicies.networking.k8s.io":      RankPolicy,
	"poddisruptionbudgets.policy":            RankPolicy,
	"configmaps":                             RankConfig,
	"secrets":                                RankConfig,
	"podtemplates":                           RankConfig,
	"persistentvolumeclaims":                 RankClaim,
	"statefulsets.apps":                      RankWorkload,
	"daemonsets.apps":                        RankWorkload,
	"deployments.apps":                       RankWorkload,
	"replicasets.apps":                       RankWorkload,
	"replicationcontrollers":                 RankWorkload,
	"cronjobs.batch":                         RankWorkload,
	"jobs.batch":                             RankWorkload,
	"pods":                                   RankWorkload,
	"horizontalpodautoscalers.autoscaling":   RankScaler,
	"services":                               RankRoute,
	"endpoints":                              RankRoute,
	"ingresses.networking.k8s.io":            RankRoute,
	"httproutes.gateway.networking.k8s.io":   RankRoute,
	"gateways.gateway.networking.k8s.io":     RankRoute,
}

// Rank is when objects of a resource are restored.
func (r Resource) Rank() int {
	if rank, known := ranks[r.Title()]; known {
		return rank
	}
	return RankOther
}

// sortByRank orders resources as they are restored.
func sortByRank(resources []Resource) {
	slices.SortFunc(resources, func(a, b Resource) int {
		return cmp.Or(cmp.Compare(a.Rank(), b.Rank()), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource))
	})
}
