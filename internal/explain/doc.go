// Package explain says in words why an object is where it is: since when, what is awaited and
// until when, who must act, and what happens next. It is pure: what others read goes in, and
// sentences come out.
//
// All of it rests on the object, so it works with the rights of whoever asks and while no manager
// runs. The machine's table is used only if it is the one that wrote the status.
package explain
