// Package spec converts a pod, as the API server stores it, into what Flight Control puts on a device: a compose
// application, and a config entry with the files of its ConfigMap volumes. It is pure.
//
// A pod may ask for more than a device can do. Table says of every field of a pod whether it is honoured, left out and told,
// or refused. Build asks it about every field that is set, so nothing of a pod is ignored without a word: what the table
// does not know is refused.
package spec
