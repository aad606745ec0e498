// Package ownership decides who sets the replicas of a function. The spec of the class, an autoscaler, a lane of enforcement and
// people may all do so, one after another, and the number must not fall because the field changes hands. It is pure.
package ownership
