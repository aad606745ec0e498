// Package valkeywire runs the scripts of package wire on real servers, as plain
// processes.
package valkeywire
