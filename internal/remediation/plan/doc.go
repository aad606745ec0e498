// Package plan makes the plan of an execution, and says whether it may be carried out. It is pure: an
// observer hands it what it read, in the order in which the document asks for it, and the first thing
// that stands in the way is the outcome.
package plan
