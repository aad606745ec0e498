package node

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/statecraft-dev/statecraft/internal/edge/device"
	"github.com/statecraft-dev/statecraft/internal/edge/fleet"
)

// The labels, annotations and taints of this area.
const (
	prefix         = "edge.statecraft.dev/"
	PoolLabel      = prefix + "pool"     // also the key of the taint that keeps other pods away
	CapacityLabel  = prefix + "capacity" // how the capacity is known
	closedTaint    = prefix + "closed"   // the device takes no new pods
	leavingSince   = prefix + "leaving-since"
	cordoned       = prefix + "cordoned"        // a person had cordoned the Node before it was to leave
	leftOutLabels  = prefix + "left-out-labels" // labels of the device that a Node cannot have
	deviceLabels   = "device." + prefix         // before the key of each label of the device
	typeLabel      = "type"
	virtualKubelet = "virtual-kubelet" // which DaemonSets of others know to avoid
)

// How the capacity of a device is known.
const (
	Measured = "Measured" // its agent reports it
	Declared = "Declared" // the pool says it
	Unknown  = "Unknown"  // only pods that request nothing fit
)

// Pool is what a pool says of all its Nodes.
type Pool struct {
	Name string
	// Reserve is kept from pods of what an agent reports.
	Reserve corev1.ResourceList
	// Capacity is that of devices whose agents report none.
	Capacity corev1.ResourceList
	// Pods is how many pods a device takes; 0 is thirty.
	Pods int64
}

const defaultPods = 30

// Device is a device to be announced.
type Device struct {
	fleet.Device
	// Row is its state.
	Row device.Row
	// Words say more of its state than the row does: since when it is silent, which fleet captured it.
	Words string
}

// Build is the Node of a device as it should be.
func Build(p Pool, d Device, id ID) *corev1.Node {
	name, _ := Name(d.Name)
	labels, leftOut := labelsOf(d.Labels)
	capacity, allocatable, known := capacityOf(p, d.Status.System)
	maps.Copy(labels, map[string]string{
		corev1.LabelHostname: name, corev1.LabelTopologyZone: p.Name, PoolLabel: p.Name, CapacityLabel: known, typeLabel: virtualKubelet,
		corev1.LabelOSStable: cmp.Or(d.Status.System.OperatingSystem, "linux"),
	})
	if arch := d.Status.System.Architecture; arch != "" && len(validation.IsValidLabelValue(arch)) == 0 {
		labels[corev1.LabelArchStable] = arch
	}
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: corev1.NodeSpec{
			ProviderID: id.String(),
			Taints:     []corev1.Taint{{Key: PoolLabel, Value: p.Name, Effect: corev1.TaintEffectNoSchedule}},
		},
		Status: corev1.NodeStatus{
			Capacity: capacity, Allocatable: allocatable,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: d.Row.Node, Reason: d.Row.Reason, Message: cmp.Or(d.Words, sentence(d.Row.When))}},
			NodeInfo:   corev1.NodeSystemInfo{OperatingSystem: d.Status.System.OperatingSystem, Architecture: d.Status.System.Architecture},
		},
	}
	if len(leftOut) > 0 {
		node.Annotations = map[string]string{leftOutLabels: strings.Join(leftOut, ",")}
	}
	if !open(d.Row) {
		node.Spec.Taints = append(node.Spec.Taints, closed(string(d.Row.State)))
	}
	return node
}

// open says that the scheduler may bind pods to the device. One that is behind takes them, and they wait for their turn.
func open(row device.Row) bool { return row.State == device.Connected || row.State == device.Behind }

func closed(why string) corev1.Taint {
	return corev1.Taint{Key: closedTaint, Value: why, Effect: corev1.TaintEffectNoSchedule}
}

func sentence(words string) string {
	if words == "" {
		return ""
	}
	return "About the device: " + words + "."
}

// labelsOf are the labels of a device, under keys that a Node can have, and the keys of those that it cannot.
func labelsOf(of map[string]string) (labels map[string]string, leftOut []string) {
	labels = map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		name := deviceLabels + strings.ReplaceAll(key, "/", ".")
		if _, twice := labels[name]; twice || len(validation.IsQualifiedName(name)) > 0 || len(validation.IsValidLabelValue(of[key])) > 0 {
			leftOut = append(leftOut, key)
			continue
		}
		labels[name] = of[key]
	}
	return labels, leftOut
}

// capacityOf is what a device has, and what pods may request of it. What is not known is absent, not nothing: the scheduler
// then binds pods that request none of it.
func capacityOf(p Pool, s fleet.System) (capacity, allocatable corev1.ResourceList, known string) {
	pods := *resource.NewQuantity(cmp.Or(p.Pods, defaultPods), resource.DecimalSI)
	capacity, allocatable = corev1.ResourceList{corev1.ResourcePods: pods}, corev1.ResourceList{corev1.ResourcePods: pods}
	known = Measured
	for name, measured := range map[corev1.ResourceName]*resource.Quantity{
		corev1.ResourceCPU:    resource.NewQuantity(s.Cores, resource.DecimalSI),
		corev1.ResourceMemory: resource.NewQuantity(s.MemoryKiB*1024, resource.BinarySI),
	} {
		declared, is := p.Capacity[name]
		switch {
		case !measured.IsZero():
			capacity[name] = *measured
			allocatable[name] = less(*measured, p.Reserve[name])
		case is && !declared.IsZero():
			capacity[name], allocatable[name] = declared, declared
			known = worse(known, Declared)
		default:
			known = Unknown
		}
	}
	return capacity, allocatable, known
}

func worse(a, b string) string {
	if a == Unknown {
		return a
	}
	return b
}

func less(of, reserve resource.Quantity) resource.Quantity {
	rest := of.DeepCopy()
	rest.Sub(reserve)
	if rest.Sign() < 0 {
		return *resource.NewQuantity(0, of.Format)
	}
	return rest
}
