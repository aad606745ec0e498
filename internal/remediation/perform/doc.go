// Package perform is the program statecraft-action: it does one action to one object, at most once,
// and says truthfully what became of it.
//
// It reads the target live, compares it with what was approved, and writes one patch that the API
// server applies to that very object in that very version, with a token that proves it. A conflict is
// no change: it reads and compares again until its time is over. If the answer to a write is lost, it
// writes again only what cannot be applied twice, and what it cannot know it reports as Unknown.
//
// A deletion leaves nothing that could bear a token. It is for one UID and one version as well, and if
// its answer is lost, a pod that goes does not say who deleted it: another client may have been faster.
package perform
