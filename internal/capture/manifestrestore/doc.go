// Package manifestrestore restores the objects of a checkpoint, once. It is pure: the
// machine says when, and the plan says what, in which order, and what becomes of a name
// that is taken.
//
// The work itself takes longer than an effect may, so it is a job beside the passes: one
// that plans, one that writes and one that looks. None of them remembers anything that
// matters. Every object that is written bears a mark with the UID of the request, so a job
// that is begun again after a crash sees what the one before it did.
//
// What was restored is never undone. The results say what was written, which is the list
// of what to undo.
package manifestrestore
