// Package capacity says how many replicas a function needs: by what a class requires of it, and
// by what was measured. It is pure: sums that a person can check by hand.
//
// κ, in the comments, is how many requests a second one replica carries; U, the utilisation, is the
// share of that which is used.
package capacity
