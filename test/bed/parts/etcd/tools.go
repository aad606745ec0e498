//go:build tools

// Package etcd pins the etcd that the bed runs.
package etcd

import (
	_ "go.etcd.io/etcd/etcdctl/v3"
	_ "go.etcd.io/etcd/server/v3"
)
