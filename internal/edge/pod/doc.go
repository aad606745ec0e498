// Package pod is the life of a pod on a device, from when the scheduler has bound it until its object goes.
//
// The pod's object is the receipt of what runs on its device: it goes only when the application is known to be gone (package
// device), so that a StatefulSet never runs twice, whatever the network does. A pod is Ready only by evidence. Pods come
// to a device one by one, because an agent applies a version all or nothing; they go at once.
//
// The object of the machine is a pod with a progress, which a store keeps in one annotation. What the device runs is decided from
// what Flight Control says, never from that annotation: a user who may write the pod may write it, too.
//
// The area is not registered yet, so no program runs it. Its table is in table.go, because a folder with phases.go is a machine that
// the registry of areas must list: the file gets that name when the area is registered.
package pod
