package ownership

import (
	"slices"

	"k8s.io/utils/ptr"

	"github.com/statecraft-dev/statecraft/internal/child"
)

// The controllers of ours that set replicas, as field managers tell them apart: what the spec asks for, and what a lane of
// enforcement decided.
const (
	SpecController = "classruntime"
	LaneController = "classruntime-enforcer"
)

// Field is the number of replicas of one child, as it was read.
type Field struct {
	Live int32 `json:"live,omitempty"`
	Want int32 `json:"want,omitempty"` // what the spec asks for
	// Own is the number that the spec itself says, where the lower limit of an autoscaler that it asks for has made Want another.
	Own *int32 `json:"own,omitempty"`
	// Asked is what Own was when the child was last applied; nil is not known. If Own is another, it was edited since.
	Asked *int32 `json:"asked,omitempty"`
	// Owners are the field managers that have the field, by a live read.
	Owners []Owner `json:"owners,omitempty"`
	// Engine names the autoscaler that governs the child; "" is none, also by a live read if Owners are of one.
	Engine string `json:"engine,omitempty"`
	// Lane is the number that a lane of enforcement wants; nil is that none governs.
	Lane *int32 `json:"lane,omitempty"`
	// Retake says that a person asked for the number of the spec, over whoever owns the field.
	Retake bool `json:"retake,omitempty"`
}

// Owner is one field manager that has the field.
type Owner struct {
	Manager string `json:"manager"`
	Scale   bool   `json:"scale,omitempty"` // through the subresource
	Applied bool   `json:"applied,omitempty"`
}

// is says that an owner is a controller of ours.
func (o Owner) is(controller string) bool {
	return o.Manager == child.Manager(controller) && o.Applied && !o.Scale
}

// mayBeEngine says that an autoscaler may have left the entry: whatever its manager is called, it wrote through /scale. A
// tool of people that did so is no autoscaler.
func (o Owner) mayBeEngine() bool { return o.Scale && !child.HandTool(o.Manager) }

func (f Field) ownedBy(controller string) bool {
	return slices.ContainsFunc(f.Owners, func(o Owner) bool { return o.is(controller) })
}

// others are the owners that are not ours.
func (f Field) others() (others []Owner) {
	for _, o := range f.Owners {
		if !o.is(SpecController) && !o.is(LaneController) {
			others = append(others, o)
		}
	}
	return others
}

// Unknown is who has scaled a child to nothing through /scale: the API server keeps no trace of that.
const Unknown = "unknown"

// claimants are the others who may want the number to stay: not an autoscaler that is gone.
func (f Field) claimants() []Owner {
	others := f.others()
	if f.Live == 0 && len(f.Owners) == 0 {
		return []Owner{{Manager: Unknown, Scale: true}}
	}
	if !f.governed() && !slices.ContainsFunc(others, func(o Owner) bool { return !o.mayBeEngine() }) {
		return nil
	}
	return others
}

// governed says that an autoscaler sets the number. None scales a child that has no replicas: somebody must say a first number.
func (f Field) governed() bool { return f.Engine != "" && f.Live > 0 }

// own is the number that the spec itself says.
func (f Field) own() int32 { return ptr.Deref(f.Own, f.Want) }

// edited says that the spec says another number than when it was last applied.
func (f Field) edited() bool { return f.Asked != nil && *f.Asked != f.own() }

// left says that what governed the child is gone, and that we have not kept its number yet.
func (f Field) left() bool {
	return !f.ownedBy(SpecController) && slices.ContainsFunc(f.others(), Owner.mayBeEngine)
}

// Claimed names another who wants the number to stay.
func (f Field) Claimed() (by string, is bool) {
	for _, o := range f.claimants() {
		return o.Manager, true
	}
	return "", false
}

// Overridden says that the number is not the spec's, or that of a lane, and stays what it is: because another has claimed it, whom by
// names, or because it is kept as an autoscaler or a lane left it.
func (f Field) Overridden() (by string, is bool) {
	switch by, claimed := f.Claimed(); {
	case f.governed():
		return "", false
	case f.Lane != nil:
		return by, claimed && !f.Retake
	case f.Live == f.Want, f.Acts(Decide(f)):
		return "", false
	default:
		return by, true
	}
}
