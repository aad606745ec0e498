package plan

// Step is one part of an edit.
type Step string

// The parts of an edit, in the order in which they are taken.
const (
	Grow      Step = "grow"       // shards and replicas that are missing are made
	MoveSlots Step = "move-slots" // every shard that stays gets its part, all others get none
	Restart   Step = "restart"    // what cannot be changed live is changed
	Shrink    Step = "shrink"     // shards and replicas that are too many are removed
)

// Shape is how many shards there are, and how many replicas each of them has.
type Shape struct{ Shards, Replicas int }

// Edit is what there is and what there should be.
type Edit struct {
	Have, Want Shape
	// Unbalanced says that slots are not where they belong in the shape that is wanted.
	Unbalanced bool
	// Outdated says that servers run otherwise than is wanted.
	Outdated bool
}

// Steps lists what is left of an edit, in order. There are as many copies as ever until
// the last step: it is restarted with every copy in place, and only what is empty goes.
func (e Edit) Steps() (steps []Step) {
	for _, s := range []struct {
		Step
		due bool
	}{
		{Grow, e.Want.Shards > e.Have.Shards || e.Want.Replicas > e.Have.Replicas},
		{MoveSlots, e.Unbalanced || e.Want.Shards > e.Have.Shards},
		{Restart, e.Outdated},
		{Shrink, e.Want.Shards < e.Have.Shards || e.Want.Replicas < e.Have.Replicas},
	} {
		if s.due {
			steps = append(steps, s.Step)
		}
	}
	return steps
}

// Meanwhile is the shape until the last step: of each number the larger.
func (e Edit) Meanwhile() Shape {
	return Shape{Shards: max(e.Have.Shards, e.Want.Shards), Replicas: max(e.Have.Replicas, e.Want.Replicas)}
}
