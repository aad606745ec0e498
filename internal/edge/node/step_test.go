package node

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

var (
	noon = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	id   = ID{"0a1b2c3d", "north", "pump"}
)

func pump() Device {
	d := fleet.Device{
		Name: "pump", Labels: map[string]string{"site": "n"}, RenderedVersion: "1",
		Status: fleet.Status{ReportedVersion: "1", Summary: fleet.Word{Status: fleet.Online}, System: fleet.System{OperatingSystem: "linux", Architecture: "arm64", Cores: 4, MemoryKiB: 8 << 20}},
	}
	return Device{Device: d, Row: device.Of("0a1b2c3d", device.Seen{Sight: presence.Here, Device: d})}
}

func wanted() Wish { return Wish{ID: id, Node: Build(Pool{Name: "north"}, pump(), id)} }

// world is an API server with one name.
type world struct {
	Found
	uid, version int
	writes       []string
}

func (w *world) do(plan Plan) {
	for _, write := range plan.Writes {
		w.version++
		version := string(rune('a' + w.version%26))
		switch e := write.(type) {
		case CreateNode:
			w.uid++
			w.Node = e.Node.DeepCopy()
			w.Node.UID, w.Node.ResourceVersion = types.UID("u"+strconv.Itoa(w.uid)), version
			w.note("create")
		case PatchNode:
			w.Node = e.Is.DeepCopy()
			w.Node.ResourceVersion = version
			w.note("patch")
		case PatchStatus:
			w.Node = e.Is.DeepCopy()
			w.Node.ResourceVersion = version
			w.note("status")
		case DeleteNode:
			w.Node, w.Lease = nil, nil
			w.note("delete")
		case CreateLease:
			w.Lease = e.Lease.DeepCopy()
			w.note("lease")
		case RenewLease:
			w.Lease = e.Is.DeepCopy()
			w.note("renew")
		}
	}
}

func (w *world) note(what string) { w.writes = append(w.writes, what) }

// rest steps until nothing is written.
func (w *world) rest(t *testing.T, wish Wish, now time.Time) {
	t.Helper()
	for range 10 {
		plan := Step(wish, w.Found, now)
		if plan.Again <= 0 {
			t.Fatal("it spins")
		}
		if len(plan.Writes) == 0 {
			return
		}
		w.do(plan)
	}
	t.Fatalf("it does not rest: %v", w.writes)
}

func (w *world) said() string {
	words := strings.Join(w.writes, " ")
	w.writes = nil
	return words
}

func TestANodeComesAndStays(t *testing.T) {
	w := &world{}
	w.rest(t, wanted(), noon)
	if got := w.said(); got != "create lease" {
		t.Fatal(got)
	}
	if len(w.Node.OwnerReferences) > 0 || w.Node.Spec.ProviderID != "statecraft-edge://0a1b2c3d/north/pump" || w.Lease.OwnerReferences[0].UID != w.Node.UID {
		t.Errorf("%+v, %+v", w.Node.ObjectMeta, w.Lease.ObjectMeta)
	}
	for second := range 60 {
		w.rest(t, wanted(), noon.Add(time.Duration(second)*time.Second))
	}
	if got := w.said(); got != "renew renew" { // at rest Leases and nothing else
		t.Error(got)
	}
}

// From the first moment, for every Node that exists: whatever is known of the device.
func TestLeasesAreRenewedBeforeAnythingIsKnown(t *testing.T) {
	w := &world{}
	w.rest(t, wanted(), noon)
	w.said()
	blind := Wish{ID: id}
	w.rest(t, blind, noon.Add(21*time.Second))
	if got := w.said(); got != "renew" {
		t.Error(got)
	}
	was := w.Node.DeepCopy()
	w.Node.Labels["x"], w.Lease = "y", nil
	w.rest(t, blind, noon.Add(22*time.Second))
	if got := w.said(); got != "lease" || w.Node.ResourceVersion != was.ResourceVersion {
		t.Errorf("a Node of a device that is not known is written: %s", got)
	}
	if plan := Step(blind, Found{}, noon); len(plan.Writes) > 0 {
		t.Errorf("a Node is made of nothing: %+v", plan)
	}
}

func TestWhatOthersDoToANode(t *testing.T) {
	other := corev1.Taint{Key: "node.kubernetes.io/unreachable", Effect: corev1.TaintEffectNoExecute}
	for what, c := range map[string]struct {
		change func(w *world)
		writes string
		check  func(n *corev1.Node) bool
	}{
		"deleted":                                 {func(w *world) { w.Node, w.Lease = nil, nil }, "create lease", func(n *corev1.Node) bool { return n.UID == "u2" }},
		"deleted, not the Lease":                  {func(w *world) { w.Node = nil }, "create", func(n *corev1.Node) bool { return n.UID == "u2" }},
		"our taint is taken off":                  {func(w *world) { w.Node.Spec.Taints = nil }, "patch", func(n *corev1.Node) bool { return len(n.Spec.Taints) == 1 }},
		"our label is changed":                    {func(w *world) { w.Node.Labels[PoolLabel] = "south" }, "patch", func(n *corev1.Node) bool { return n.Labels[PoolLabel] == "north" }},
		"a label of a device that it has no more": {func(w *world) { w.Node.Labels[deviceLabels+"old"] = "x" }, "patch", func(n *corev1.Node) bool { return n.Labels[deviceLabels+"old"] == "" }},
		"another taint":                           {func(w *world) { w.Node.Spec.Taints = append([]corev1.Taint{other}, w.Node.Spec.Taints...) }, "", func(n *corev1.Node) bool { return n.Spec.Taints[0] == other }},
		"another taint, and ours gone":            {func(w *world) { w.Node.Spec.Taints = []corev1.Taint{other} }, "patch", func(n *corev1.Node) bool { return slices.Contains(n.Spec.Taints, other) && len(n.Spec.Taints) == 2 }},
		"another label":                           {func(w *world) { w.Node.Labels["team"] = "a" }, "", func(n *corev1.Node) bool { return n.Labels["team"] == "a" }},
		"a cordon":                                {func(w *world) { w.Node.Spec.Unschedulable = true }, "", func(n *corev1.Node) bool { return n.Spec.Unschedulable }},
		"another condition": {func(w *world) {
			w.Node.Status.Conditions = append(w.Node.Status.Conditions, corev1.NodeCondition{Type: "DiskPressure", Status: "Unknown"})
		}, "", func(n *corev1.Node) bool { return len(n.Status.Conditions) == 2 }},
		"Ready is set to Unknown": {func(w *world) { w.Node.Status.Conditions[0].Status = "Unknown" }, "status", func(n *corev1.Node) bool { return n.Status.Conditions[0].Status == "True" }},
		"its status is wiped":     {func(w *world) { w.Node.Status = corev1.NodeStatus{} }, "status", func(n *corev1.Node) bool { return n.Status.Capacity.Cpu().Value() == 4 }},
		"label and status":        {func(w *world) { w.Node.Status, w.Node.Labels = corev1.NodeStatus{}, nil }, "patch status", func(n *corev1.Node) bool { return n.Labels["type"] == "virtual-kubelet" }},
	} {
		w := &world{}
		w.rest(t, wanted(), noon)
		w.said()
		c.change(w)
		if w.Lease != nil && w.Node == nil { // garbage collection takes the Lease of a Node that went
			w.do(Step(wanted(), w.Found, noon))
			if plan := Step(wanted(), w.Found, noon); len(plan.Writes) > 0 || plan.Again > soon {
				t.Errorf("%s: the Lease of another Node is renewed: %+v", what, plan)
			}
		} else {
			w.rest(t, wanted(), noon)
		}
		if got := w.said(); got != c.writes || !c.check(w.Node) {
			t.Errorf("%s: %q, %+v", what, got, w.Node)
		}
	}
}

func TestANodeThatIsNotOursIsNotWritten(t *testing.T) {
	for provider, problem := range map[string]Problem{
		"": NameTaken, "aws:///eu/i-1": NameTaken, "statecraft-edge://ffffffff/north/pump": NameTaken, "statecraft-edge://0a1b2c3d/south/pump": TakenByPool,
		"statecraft-edge://0a1b2c3d/north/valve": NameTaken, "statecraft-edge://0a1b2c3d/north": NameTaken, "statecraft-edge://0a1b2c3d/north/pump": "",
	} {
		for _, leaves := range []bool{false, true} {
			w := &world{Found: Found{Node: &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "edge-pump", UID: "u", ResourceVersion: "1"}}, Pods: BoundPods{Listed: true}}}
			w.Node.Spec.ProviderID = provider
			wish := wanted()
			wish.Leaves = leaves
			plan := Step(wish, w.Found, noon)
			if plan.Problem != problem || (len(plan.Writes) > 0) != (problem == "") {
				t.Errorf("%q: %q, %+v", provider, plan.Problem, plan.Writes)
			}
		}
	}
	long := wanted()
	long.ID.Device = strings.Repeat("a", 59)
	if plan := Step(long, Found{}, noon); plan.Problem != NameTooLong || len(plan.Writes) > 0 {
		t.Errorf("%+v", plan)
	}
}

func TestANodeGoesAfterItsPods(t *testing.T) {
	w, leaves := &world{}, wanted()
	w.rest(t, wanted(), noon)
	w.said()
	leaves.Leaves = true
	w.rest(t, leaves, noon)
	if got := w.said(); got != "patch" || !w.Node.Spec.Unschedulable || len(w.Node.Spec.Taints) != 2 {
		t.Fatalf("%s, %+v", got, w.Node.Spec)
	}
	for pods, now := range map[BoundPods]time.Time{
		{}:                       noon.Add(time.Hour), // they were not listed
		{Listed: true, Count: 1}: noon.Add(time.Hour), // in whatever phase
		{Listed: true}:           noon.Add(29 * time.Second),
	} {
		w.Pods = pods
		for _, write := range Step(leaves, w.Found, now).Writes {
			if _, is := write.(DeleteNode); is {
				t.Errorf("%+v after %s: it is deleted", pods, now.Sub(noon))
			}
		}
	}
	w.Pods, w.Node.Spec.Unschedulable = BoundPods{Listed: true}, false // a person opened it
	w.rest(t, leaves, noon.Add(time.Hour))
	if got := w.said(); got != "renew patch" {
		t.Errorf("what was opened is deleted, or stays open: %s", got)
	}
	w.rest(t, leaves, noon.Add(time.Hour+30*time.Second))
	if got := w.said(); got != "renew delete" {
		t.Error(got)
	}
	w.rest(t, leaves, noon.Add(2*time.Hour))
	if got := w.said(); got != "" {
		t.Errorf("it is made again: %s", got)
	}
}

// The pods of a pool that is deleted are evicted, by Kubernetes.
func TestPodsAreEvictedFromADeletedPool(t *testing.T) {
	w, leaves := &world{}, wanted()
	w.rest(t, wanted(), noon)
	leaves.Leaves = true
	w.rest(t, leaves, noon)
	noExecute := func() bool {
		return slices.ContainsFunc(w.Node.Spec.Taints, func(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectNoExecute })
	}
	if noExecute() {
		t.Error("pods of a device that has left the pool are evicted")
	}
	w.said()
	leaves.Evicts = true
	w.rest(t, leaves, noon.Add(time.Minute))
	if got := w.said(); got != "renew patch" || !noExecute() {
		t.Errorf("%s: %+v", got, w.Node.Spec.Taints)
	}
}

func TestADeviceThatComesBack(t *testing.T) {
	for _, cordon := range []bool{false, true} {
		w, leaves := &world{}, wanted()
		w.rest(t, wanted(), noon)
		w.Node.Spec.Unschedulable = cordon
		leaves.Leaves = true
		w.rest(t, leaves, noon)
		w.rest(t, wanted(), noon.Add(10*time.Second))
		if w.Node.Spec.Unschedulable != cordon || len(w.Node.Spec.Taints) != 1 || w.Node.Annotations[leavingSince] != "" {
			t.Errorf("cordon of a person %t: %+v", cordon, w.Node)
		}
	}
}

// Whatever there is: what is not ours is not written, a Node is deleted for cause alone, and a Lease that is due is renewed.
func TestTheRules(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	deleted := 0
	for range 4_000 {
		wish := wanted()
		wish.Leaves = r.IntN(2) == 0
		if r.IntN(3) == 0 {
			wish.Node = nil
		}
		found := Found{Pods: BoundPods{r.IntN(2) == 0, r.IntN(2)}}
		if r.IntN(6) > 0 {
			found.Node = Build(Pool{Name: "north"}, pump(), id)
			found.Node.UID = "u1"
			found.Node.Spec.ProviderID = pick(id.String(), id.String(), id.String(), "", "aws:///x", "statecraft-edge://0a1b2c3d/south/pump")
			found.Node.Spec.Unschedulable = r.IntN(2) == 0
			if r.IntN(2) == 0 {
				found.Node.Annotations = map[string]string{leavingSince: pick("", "soon", noon.Add(-time.Minute).Format(time.RFC3339), noon.Add(-10*time.Second).Format(time.RFC3339), noon.Add(time.Hour).Format(time.RFC3339))}
				found.Node.Spec.Taints = append(found.Node.Spec.Taints, closed(pick("Leaving", "Leaving", "Shared")))
			}
		}
		if r.IntN(3) > 0 {
			found.Lease = &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: noon.Add(time.Duration(r.IntN(120)-60) * time.Second)}}}
		}
		before := found.Node.DeepCopy()
		plan := Step(wish, found, noon)
		if !reflect.DeepEqual(before, found.Node) {
			t.Fatalf("what was seen was changed: %+v", found.Node)
		}
		ours := found.Node != nil && found.Node.Spec.ProviderID == id.String()
		renewed := false
		for _, write := range plan.Writes {
			switch write.(type) {
			case CreateNode:
				if found.Node != nil {
					t.Fatal("a Node is made over another")
				}
				continue
			case CreateLease, RenewLease:
				renewed = true
			case PatchNode, PatchStatus:
			case DeleteNode:
				since, err := time.Parse(time.RFC3339, found.Node.Annotations[leavingSince])
				if deleted++; !wish.Leaves || !found.Pods.None() || !found.Node.Spec.Unschedulable || err != nil || noon.Sub(since) < quarantine {
					t.Fatalf("it is deleted: %+v, %+v", wish, found)
				}
			}
			if !ours {
				t.Fatalf("%+v is written to %+v", write, found.Node)
			}
		}
		due := found.Lease == nil || noon.Sub(found.Lease.Spec.RenewTime.Time) >= renewal || found.Lease.Spec.RenewTime.After(noon)
		if ours && renewed != due {
			t.Fatalf("renewed %t, due %t: %+v", renewed, due, found.Lease)
		}
		if plan.Again <= 0 || plan.Again > renewal {
			t.Fatalf("it looks again after %s", plan.Again)
		}
	}
	if deleted == 0 {
		t.Error("no Node was deleted")
	}
}

func TestTheNodeOfADevice(t *testing.T) {
	reserve := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m"), corev1.ResourceMemory: resource.MustParse("9Gi")}
	declared := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}
	for what, c := range map[string]struct {
		system          fleet.System
		capacity        corev1.ResourceList
		cpu, mem, known string
	}{
		"measured":        {fleet.System{Cores: 4, MemoryKiB: 10 << 20}, declared, "3500m", "1Gi", Measured},
		"less than that":  {fleet.System{Cores: 4, MemoryKiB: 1 << 20}, nil, "3500m", "0", Measured},
		"partly declared": {fleet.System{MemoryKiB: 10 << 20}, declared, "2", "1Gi", Declared},
		"not known":       {fleet.System{Cores: 4}, declared, "3500m", "", Unknown},
		"nothing known":   {fleet.System{}, nil, "", "", Unknown},
	} {
		d := pump()
		d.Status.System = c.system
		n := Build(Pool{Name: "north", Reserve: reserve, Capacity: c.capacity}, d, id)
		for name, want := range map[corev1.ResourceName]string{corev1.ResourceCPU: c.cpu, corev1.ResourceMemory: c.mem, corev1.ResourcePods: "30"} {
			got, is := n.Status.Allocatable[name]
			if is != (want != "") || is && got.Cmp(resource.MustParse(want)) != 0 {
				t.Errorf("%s: %s is %s", what, name, &got)
			}
			if over := n.Status.Capacity[name]; over.Cmp(got) < 0 {
				t.Errorf("%s: more %s is allocatable than there is", what, name)
			}
		}
		if n.Labels[CapacityLabel] != c.known {
			t.Errorf("%s: %s", what, n.Labels[CapacityLabel])
		}
	}
}

func TestTheLabelsOfADevice(t *testing.T) {
	d := pump()
	d.Labels = map[string]string{"site": "n", "rack/slot": "4", "rack.slot": "twice", "empty": "", "bad value": "x", "text": "two words", strings.Repeat("k", 64): "x"}
	n := Build(Pool{Name: "north"}, d, id)
	if n.Labels["device.edge.statecraft.dev/site"] != "n" || n.Labels["device.edge.statecraft.dev/rack.slot"] != "twice" || n.Labels["device.edge.statecraft.dev/text"] != "" {
		t.Errorf("%v", n.Labels)
	}
	if got := n.Annotations[leftOutLabels]; got != "bad value,"+strings.Repeat("k", 64)+",rack/slot,text" {
		t.Error(got)
	}
	if _, is := n.Labels["device.edge.statecraft.dev/empty"]; !is {
		t.Error("a label without a value is left out")
	}
}

// Each state of a device has its Node.
func TestTheNodeOfAState(t *testing.T) {
	for _, row := range device.Table() {
		d := pump()
		d.Row = row
		n := Build(Pool{Name: "north"}, d, id)
		ready := n.Status.Conditions[0]
		shut := slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == closedTaint })
		if ready.Status != row.Node || ready.Reason != row.Reason || ready.Message == "" {
			t.Errorf("%s: %+v", row.State, ready)
		}
		if takes := row.State == device.Connected || row.State == device.Behind; shut == takes {
			t.Errorf("%s: closed %t", row.State, shut)
		}
	}
}
