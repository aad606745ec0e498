// Package request is the machine of a RemediationRequest: steps that are carried out in order, each by an execution of
// its own, and taken back if one of them fails and the request asks for that.
//
// Each step is done at most once per try by an order of writes. All targets are reserved first. Then the steps are saved,
// then the request is marked as begun, then the try and the name of its execution are saved, then the execution is
// made, and its UID is saved; it waits for that. So an execution that vanished before its UID was saved did nothing, and
// of one that vanished later nobody knows what it did, unless its end was saved.
package request
