package kube

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Object is an API object that a machine runs over.
type Object[T any] interface {
	client.Object
	fsm.Subject[T]
}

func keyOf(obj client.Object) read.Key { return client.ObjectKeyFromObject(obj) }
