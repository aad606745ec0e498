package pool

import (
	"fmt"
	"strconv"
	"time"

	edgev1 "github.com/statecraft-dev/statecraft/api/edge/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// removeOrphans takes what no pod has off devices, one device at a time: it was without a pod twice, a sweep apart, and it is not
// so much that the list of pods must be doubted.
func removeOrphans(in input) (d fsm.Decision, is bool) {
	w := in.World
	if !w.surveyed() || held(in) {
		return d, false
	}
	var remove RemoveEntries
	for _, o := range w.Orphans {
		ripe := o.Looks >= looks && in.Now.Sub(time.Unix(o.Since, 0)) >= sweep
		if ripe && (remove.Device == "" || remove.Device == o.Device) {
			remove.Device, remove.Names = o.Device, append(remove.Names, o.Name)
		}
	}
	if remove.Device == "" {
		return d, false
	}
	return fsm.Do(ReasonOrphans, remove).Because("Device %s has applications of this cluster that no pod has, which are removed.", remove.Device), true
}

// held says that a person must say so first: an API server that was restored from a backup does not know its pods.
func held(in input) bool {
	n := len(in.World.Orphans)
	return n > fewOrphans && n*10 > in.World.Entries && in.Obj.Annotations[edgev1.ConsentAnnotation] != strconv.Itoa(n)
}

func sayHeld(in input) string {
	n := len(in.World.Orphans)
	return fmt.Sprintf("%d of %d applications of this cluster belong to no pod, which is too many to remove them unasked: if they may go, annotate the pool with %s=%d.", n, in.World.Entries, edgev1.ConsentAnnotation, n)
}
