// Package enforce decides when a recommended number of replicas is applied. It is pure: the
// decision follows from the recommendation, from what is applied, from what the lane remembers in the
// status of its class, and from the time.
//
// A lane is one function whose replicas are enforced. It remembers the least and the greatest target
// since the last change of direction (the band): going up it applies the least, going down the
// greatest. So a target that is measured anew in every look, and differs a little each time, is
// applied all the same, and a single one that is out of the ordinary is not.
package enforce
