// Package spec builds the objects that a class owns: for each function a Deployment and, where
// it has ports, a Service. It is pure.
package spec
