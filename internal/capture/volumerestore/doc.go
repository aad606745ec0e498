// Package volumerestore decides about a VolumeRestoreRequest: whether what it names can be
// restored, when the claim is there, and what a rehearsal has shown.
//
// The claim and its volume are not made here. A process beside the CSI driver, the
// restorer, makes them for requests in phase Restoring, and speaks through a condition of
// the claim. So nobody but the manager writes the status of a request, and nobody but the
// restorer talks to a driver.
//
// Least number of writes of a restore: the keeper, and the status three times (Preparing,
// Restoring, the end); the restorer's are the claim, the intent and its removal, and the
// volume.
package volumerestore
