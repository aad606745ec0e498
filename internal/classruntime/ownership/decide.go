package ownership

// Act is what an apply does with the field.
type Act string

// The acts. What is left out by its only owner falls to the default, which is 1.
const (
	Omit     Act = "Omit"     // leave the field out
	Carry    Act = "Carry"    // apply a value, without force
	TakeOver Act = "TakeOver" // apply a value over other owners, in the version that was read
)

// Share is the part of one controller of ours.
type Share struct {
	Act   Act
	Value int32
}

func omit() Share            { return Share{Act: Omit} }
func carry(n int32) Share    { return Share{Carry, n} }
func takeOver(n int32) Share { return Share{TakeOver, n} }

// Answer is what our controllers do with the field. Who applies a value goes first, and who leaves it out goes second: in
// between both own it, and the number does not fall.
type Answer struct{ Spec, Lane Share }

// Decide says whose the field is. Its rules, the first that applies:
//
//   - an autoscaler governs: the number is its own. We keep what we own at the live value until it has written;
//   - a lane governs: its number, unless another has claimed the field;
//   - a person asked for the spec's number: that, over anybody;
//   - another has claimed the field: the number stands;
//   - the spec was edited: its number;
//   - else the number stays what it is, and is ours. That holds for what an autoscaler or a lane left.
func Decide(f Field) Answer {
	switch {
	case f.governed():
		return f.yield()
	case f.Lane != nil:
		return f.enforced()
	case len(f.claimants()) > 0 && f.Live != f.Want && !f.Retake:
		return Answer{Spec: omit(), Lane: omit()}
	}
	return Answer{Spec: f.set(SpecController, f.due()), Lane: omit()}
}

// yield leaves the field to an autoscaler. One that has not written yet owns nothing, so that what we leave out would fall.
func (f Field) yield() Answer {
	if len(f.others()) > 0 || len(f.Owners) == 0 {
		return Answer{Spec: omit(), Lane: omit()}
	}
	return Answer{Spec: carry(f.Live), Lane: omit()}
}

// enforced lets a lane set the field, and the spec leave it out.
func (f Field) enforced() Answer {
	if len(f.claimants()) > 0 && !f.Retake {
		return Answer{Spec: omit(), Lane: omit()}
	}
	return Answer{Spec: omit(), Lane: f.set(LaneController, *f.Lane)}
}

// due is the number that the spec has a right to now. A person makes it what the spec asks for, and so does an edit, once the
// number is kept: of an edit that is found together with the end of an autoscaler nobody knows which was first. What has no owner
// at all is not less than what is asked for: it is nobody's decision. Nor is it less than the lower limit of an autoscaler.
func (f Field) due() int32 {
	switch {
	case f.Retake:
		return f.Want
	case f.left() && f.edited(), f.own() < f.Want:
		return max(f.Live, f.Want)
	case f.edited():
		return f.Want
	case len(f.Owners) == 0:
		return max(f.Live, f.Want)
	}
	return f.Live
}

// set applies a number by one of our controllers, and by force if another owner has a different one. The same number is shared.
func (f Field) set(controller string, n int32) Share {
	if n != f.Live && len(f.Owners) > 0 && (len(f.Owners) > 1 || !f.ownedBy(controller)) {
		return takeOver(n)
	}
	return carry(n)
}

// Acts says that the answer changes something that does not wait for the next apply: the number, or, where that is not the
// spec's, who owns it.
func (f Field) Acts(a Answer) bool {
	switch s := a.Spec; {
	case f.Lane != nil: // who owns it is for the lane to change, with the next number that it sets
		return a.Lane.Act != Omit && a.Lane.Value != f.Live
	case s.Act == TakeOver, s.Act == Carry && s.Value != f.Live:
		return true
	case s.Act == Carry && !f.ownedBy(SpecController) && f.Live != f.Want:
		return true
	}
	return f.LaneActs(a)
}

// LaneActs says that the lane has something to send: a number, or that it gives the field up.
func (f Field) LaneActs(a Answer) bool {
	owns := f.ownedBy(LaneController)
	if a.Lane.Act == Omit {
		return owns
	}
	return !owns || a.Lane.Value != f.Live
}

// Asks is what the spec said once the answer is applied; nil is not known. While an autoscaler or a lane governs, an edit is
// used up by that: it is for them to follow, and must not let the number fall when they are gone, maybe weeks later. While another
// has claimed the number, it stays what it was.
func (f Field) Asks(a Answer) *int32 {
	if a.Spec.Act == Omit && !f.governed() && f.Lane == nil {
		return f.Asked
	}
	own := f.own()
	return &own
}
