package cluster

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/statecraft-dev/statecraft/internal/podstate"
)

// Who drains a machine with volumes is told why the drain waits, and what would let it go on.
func TestADrainThatWaitsIsExplained(t *testing.T) {
	for name, c := range map[string]struct {
		volumes bool
		most    *intstr.IntOrString
		trouble podstate.Reason
		want    bool
	}{
		"volumes, and one at a time":           {true, nil, podstate.Unschedulable, true},
		"volumes, and two at a time":           {true, ptr.To(intstr.FromInt32(2)), podstate.Unschedulable, false},
		"volumes, and a tenth of all":          {true, ptr.To(intstr.FromString("10%")), podstate.Unschedulable, true},
		"no volumes":                           {false, nil, podstate.Unschedulable, false},
		"it has a machine, and other troubles": {true, nil, "ImagePullBackOff", false},
	} {
		o, w := newCluster(), clone(made()[len(made())-1].world)
		o.Status.Phase, o.Status.Since, o.Status.ObservedGeneration = Degraded, *ago(time.Minute), 1
		o.Spec.Persistence.Enabled, o.Spec.PodDisruptionBudget.MaxUnavailable = c.volumes, c.most
		w.Nodes[1].Server, w.Nodes[1].Ready, w.Nodes[1].Host, w.Nodes[1].Trouble = nil, false, "", podstate.Trouble{Reason: c.trouble}
		d := decideDegraded(input{Obj: o, World: w, Now: present})
		if told := strings.Contains(d.Message, "maxUnavailable"); told != c.want || d.Reason != ReasonNodesMissing {
			t.Errorf("%s: %s: %s", name, d.Reason, d.Message)
		}
	}
}
