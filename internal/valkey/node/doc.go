// Package node is what runs beside a server in its pod: it starts the server so that
// nothing is lost by it, says whether the server is ready, and hands its work over
// before it stops.
//
// What is decided is decided in pure packages below: config, nodesconf and guard.
// Here is what they are told, and what is done about it.
package node
