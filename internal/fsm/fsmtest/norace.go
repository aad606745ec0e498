//go:build !race

package fsmtest

const thrift = 1
