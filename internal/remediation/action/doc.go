// Package action says what each built-in action does to its target: which fields it reads and
// writes, the patch, and the action that takes it back. The manager plans with it, the program
// statecraft-action performs with it, so what a person approved is what happens. It is pure.
//
// A plan is a function of target and parameters. Nothing in it changes from one plan to the next
// unless the target's footprint did: not the time, not the resourceVersion, not the generation.
package action
