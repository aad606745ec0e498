// Command statecraft-captures shows what area capture has in a cluster, and what leaks.
//
//	statecraft-captures list [-n NAMESPACE]   requests, what they capture or restore, and what is retained of those that are gone
//	statecraft-captures leaks                 what no keeper keeps; exit code 1 if there is any
//	statecraft-captures --version             which version this is
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/leaks"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/version"
)

// errLeaks says that something leaks, as opposed to that nobody knows.
var errLeaks = errors.New("there are leaks")

const usage = "usage: statecraft-captures list|leaks [flags], or --version"

func main() {
	err := run(ctrl.SetupSignalHandler(), os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, errLeaks):
		os.Exit(1)
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "statecraft-captures:", err)
		os.Exit(2)
	}
}

// options are the flags of both commands.
type options struct {
	namespace, system, endpoint string
	again, patience             time.Duration
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	if args[0] == "--version" || args[0] == "-version" {
		fmt.Fprintln(out, "statecraft-captures", version.String())
		return nil
	}
	o, set := options{}, flag.NewFlagSet(args[0], flag.ContinueOnError)
	set.StringVar(&o.namespace, "n", "", "namespace of the requests to list; all if empty")
	set.StringVar(&o.system, "namespace", kube.DefaultNamespace, "namespace of the manager, which holds detached volumes")
	set.StringVar(&o.endpoint, "csi-endpoint", "", "socket of a CSI driver's controller, such as unix:///csi/csi.sock: what it has is looked at, too")
	set.DurationVar(&o.again, "again", 15*time.Second, "how long after the first look leaks are looked for again: what is on its way is gone by then")
	set.DurationVar(&o.patience, "patience", leaks.Patience, "how young something may be without being a leak: it may be on its way")
	config.RegisterFlags(set) // --kubeconfig
	if err := set.Parse(args[1:]); err != nil {
		return err
	}
	live, err := connect()
	if err != nil {
		return err
	}
	gatherer := leaks.Gatherer{Live: live, Namespace: o.system, Intents: true}
	switch args[0] {
	case "list":
		return list(ctx, gatherer, o, out)
	case "leaks":
		return report(ctx, gatherer, o, out)
	}
	return errors.New(usage)
}

func connect() (read.Live, error) {
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return read.Live{}, fmt.Errorf("find the cluster: %w", err)
	}
	cfg.UserAgent = version.UserAgent("statecraft-captures")
	cfg.QPS = -1 // the server's own flow control decides
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, snapshotv1.AddToScheme, capturev1.AddToScheme} {
		if err := add(scheme); err != nil {
			return read.Live{}, err
		}
	}
	c, err := client.New(cfg, client.Options{Scheme: scheme})
	if err != nil {
		return read.Live{}, fmt.Errorf("connect to the cluster: %w", err)
	}
	return read.Live{Reader: c}, nil
}
