package manifestrestore

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
)

// The ranks of kinds: what others need comes first.
const (
	accounts  = iota // before whatever runs as them
	roles            // before they are bound
	bindings         // before whatever needs the rights
	settings         // what pods read when they start
	policies         // limits and quotas hold for what comes after
	claims           // before the pods that wait for them
	services         // before workloads: pods are told only of Services that exist when they start
	others           // kinds that we do not know: as a rule what workloads are made from
	workloads        //
	scaling          // once there is something to scale
	routes           // last, so that no traffic comes before there is something to answer it
)

var ranks = map[string]int{
	"/ServiceAccount":                       accounts,
	"rbac.authorization.k8s.io/Role":        roles,
	"rbac.authorization.k8s.io/RoleBinding": bindings,
	"/ConfigMap":                            settings,
	"/Secret":                               settings,
	"/ResourceQuota":                        policies,
	"/LimitRange":                           policies,
	"networking.k8s.io/NetworkPolicy":       policies,
	"policy/PodDisruptionBudget":            policies,
	"/PersistentVolumeClaim":                claims,
	"/Service":                              services,
	"/Pod":                                  workloads,
	"/ReplicationController":                workloads,
	"apps/Deployment":                       workloads,
	"apps/StatefulSet":                      workloads,
	"apps/DaemonSet":                        workloads,
	"apps/ReplicaSet":                       workloads,
	"batch/Job":                             workloads,
	"batch/CronJob":                         workloads,
	"autoscaling/HorizontalPodAutoscaler":   scaling,
	"networking.k8s.io/Ingress":             routes,
}

// rank is the place of a kind. Kinds of the Gateway API are routes, all of them.
func rank(k Key) int {
	if k.Group == "gateway.networking.k8s.io" {
		return routes
	}
	if r, known := ranks[k.Group+"/"+k.Kind]; known {
		return r
	}
	return others
}

// MayUseVolumes says that an object may use claims, or have others made that do: a StatefulSet
// makes a claim that it does not find, with an empty volume.
func MayUseVolumes(k Key) bool { return rank(k) >= others }

func before(a, b Key) int {
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
}

// waiting is a heap of items by their place.
type waiting []*Item

func (w waiting) Len() int           { return len(w) }
func (w waiting) Less(i, j int) bool { return before(w[i].Key, w[j].Key) < 0 }
func (w waiting) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }

// Push implements heap.Interface.
func (w *waiting) Push(x any) { *w = append(*w, x.(*Item)) }

// Pop implements heap.Interface.
func (w *waiting) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}

// inOrder sorts items by rank, but none before its owners: what is owned waits for its
// owner rather than having it come early. Where owners own each other in a circle, one of them
// goes without.
func inOrder(items []Item) []Item {
	open, owned := map[Key]int{}, map[Key][]*Item{}
	left := map[Key]*Item{}
	var ready waiting
	for i := range items {
		item := &items[i]
		left[item.Key] = item
		open[item.Key] = len(item.Owners)
		for _, o := range item.Owners {
			owned[o.Key] = append(owned[o.Key], item)
		}
		if len(item.Owners) == 0 {
			ready = append(ready, item)
		}
	}
	heap.Init(&ready)
	sorted := make([]Item, 0, len(items))
	for len(left) > 0 {
		if len(ready) == 0 {
			heap.Push(&ready, circle(left))
		}
		item := heap.Pop(&ready).(*Item)
		delete(left, item.Key)
		sorted = append(sorted, *item)
		for _, next := range owned[item.Key] {
			if open[next.Key]--; open[next.Key] == 0 && left[next.Key] != nil {
				heap.Push(&ready, next)
			}
		}
	}
	return sorted
}

// circle is where a circle of owners is cut, if each of the items has an owner among them:
// not at one that is merely owned by someone in it.
func circle(left map[Key]*Item) *Item {
	at := slices.MinFunc(slices.Collect(maps.Keys(left)), before)
	for seen := map[Key]bool{}; !seen[at]; at = ownerIn(left, at) {
		seen[at] = true
	}
	first := at
	for next := ownerIn(left, at); next != at; next = ownerIn(left, next) {
		if before(next, first) < 0 {
			first = next
		}
	}
	return left[first]
}

func ownerIn(left map[Key]*Item, key Key) Key {
	for _, o := range left[key].Owners {
		if left[o.Key] != nil {
			return o.Key
		}
	}
	return key
}
