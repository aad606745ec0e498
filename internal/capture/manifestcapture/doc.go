// Package manifestcapture decides how a ManifestCaptureRequest gets on.
//
// All objects are read at one moment, a resourceVersion, which is chosen and saved before
// anything is read: whoever begins again reads the same. Reading, writing and verifying
// take long, so each is work that is begun by an effect and seen as a fact.
//
// The checkpoint is the commit record. Before it is there, nothing is captured, whatever
// chunks there are; from then on it says what is. So what two who worked at the same time
// have both written is settled by whose checkpoint was first, and chunks that it does not
// list are removed only after that: before, each might remove what the other goes on to list.
//
// Its writes, counted: keeper, chunks, checkpoint, and five of the status, one for each
// phase that must be durable before its effects, and the end.
package manifestcapture
