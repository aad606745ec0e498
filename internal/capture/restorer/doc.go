// Package restorer decides what the process beside a CSI driver does for one
// VolumeRestoreRequest: make the claim, then the volume, then bind the two; or move a
// detached volume; or, if the request was given up, undo what was begun.
//
// Before the driver is asked for a volume an intent is written, which holds everything that
// is needed to ask again. It is removed when a PersistentVolume exists that owns the volume,
// or when the volume was deleted again. So whatever crashes, whatever answer is lost, no
// volume is left in the backend that nobody knows of.
//
// The machine's progress is in the intent as well, while there is one, and else in memory. No
// decision rests on it: in every phase the place of a restore is found from what exists, so a
// restart before the intent is a lost status, which every drill tries.
package restorer
