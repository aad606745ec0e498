// Package job builds Jobs and judges what became of them, whichever area they run for. It is
// pure: package kube/read finds Jobs and their pods, and kube.Writer makes, releases and
// deletes them.
package job
