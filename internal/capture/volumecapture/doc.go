// Package volumecapture decides how the volume of one claim is captured, once: as a
// snapshot, or by taking the volume itself.
//
// What is made belongs to the request's keeper, which is made first; it is also the proof
// that the request has begun. A snapshot that fails is cleaned up. A volume whose claim was
// deleted is not: until it is held it keeps its data, whatever becomes of the request.
//
// The fewest writes of a capture are five for a snapshot: the keeper, the content, and the
// status when it prepares, when it captures and when it has ended. Detaching takes nine: the
// keeper, the mark on the volume, the claim's deletion, the holder, the volume's new claim,
// its policy, and the same three of the status.
package volumecapture
