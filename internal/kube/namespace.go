package kube

import (
	"flag"
	"os"
	"strings"

	"github.com/statecraft-dev/statecraft/config"
)

// DefaultNamespace is where the product is installed unless the platform team chooses another namespace.
const DefaultNamespace = config.Namespace

// podNamespace is the file in which every pod with an account finds the name of its namespace.
const podNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// BindNamespace binds the one flag that says where the product itself lives.
func BindNamespace(set *flag.FlagSet, namespace *string) {
	set.StringVar(namespace, "namespace", ownNamespace(podNamespace), "namespace of the product itself, for elections, reservations and keys; by default that of the pod")
}

func ownNamespace(file string) string {
	content, err := os.ReadFile(file)
	if name := strings.TrimSpace(string(content)); err == nil && name != "" {
		return name
	}
	return DefaultNamespace
}
