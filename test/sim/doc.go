// Package sim drives whole controllers step by step against a real API server and
// makes something go wrong at every call, once per plan.
//
// A Subject is a story: what a user does, the controllers that answer, and what
// must be true in the end. It is run once without faults. That run gives the
// boundaries (every call that crossed from a controller to the outside), the end
// state, and the number of children made and removed. Then each boundary is tried
// with each fault that makes sense there, in a namespace of its own. Whatever went
// wrong, the story must come to the same end, or to another one that the subject
// declares, with as many children made and removed, and must stay there.
//
// Everything in a plan happens in one order: one goroutine runs passes from a queue
// whose clock is ours, events are raised from the writes that went through, and
// only garbage collection is left to itself and waited for at the end.
package sim
