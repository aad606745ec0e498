package bed

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed/internal/audit"
	"github.com/statecraft-dev/statecraft/test/bed/internal/pki"
	"github.com/statecraft-dev/statecraft/test/bed/internal/process"
	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// clientLimits are raised on the controllers, whose own defaults would otherwise be all that a test measures.
var clientLimits = []string{"--kube-api-qps=1000", "--kube-api-burst=2000"}

// nodeGrace is how long a node of a bed may be silent until it is not ready, unless NodeGracePeriod says otherwise.
const nodeGrace = 10 * time.Second

func startControlPlane(ctx context.Context, b *Bed) error {
	if err := b.writeCredentials(); err != nil {
		return err
	}
	b.audit = audit.Open(b.auditing.log)
	if err := b.startServers("etcd", "kube-apiserver"); err != nil {
		return err
	}
	if err := b.waitForAPI(ctx); err != nil {
		return err
	}
	if err := b.startServers("kube-controller-manager", "kube-scheduler"); err != nil {
		return err
	}
	return b.waitForControllers(ctx)
}

func (b *Bed) startServers(names ...string) error {
	for _, name := range names {
		command := process.Command{Name: name, Path: b.program(parts.Kube, name)}
		switch name {
		case "etcd":
			command.Path = b.program(parts.Etcd, name)
			command.Args = b.etcdFlags()
		case "kube-apiserver":
			command.Args = b.apiServerFlags()
			command.Env = []string{"GOGC=400"} // memory is cheaper than processors here, and it has the most to do
		case "kube-controller-manager":
			command.Args = b.controllerManagerFlags()
			command = b.withVolumes(command)
		case "kube-scheduler":
			command.Args = b.schedulerFlags()
		}
		if _, err := b.run(command); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bed) etcdFlags() []string {
	return []string{
		"--data-dir=" + b.path("etcd"),
		"--listen-client-urls=" + b.layout.etcdURL(),
		"--advertise-client-urls=" + b.layout.etcdURL(),
		"--listen-peer-urls=" + b.layout.etcdPeerURL(),
		"--initial-advertise-peer-urls=" + b.layout.etcdPeerURL(),
		"--initial-cluster=default=" + b.layout.etcdPeerURL(),
		"--unsafe-no-fsync", // nothing of a bed outlives a power cut
		"--log-level=warn",
	}
}

func (b *Bed) apiServerFlags() []string {
	return []string{
		"--etcd-servers=" + b.layout.etcdURL(),
		"--bind-address=" + b.layout.apiHost,
		"--advertise-address=" + b.layout.apiHost,
		fmt.Sprintf("--secure-port=%d", b.layout.apiPort),
		"--endpoint-reconciler-type=" + b.layout.endpoints,
		"--tls-cert-file=" + b.path("pki", "apiserver.crt"),
		"--tls-private-key-file=" + b.path("pki", "apiserver.key"),
		"--client-ca-file=" + b.path("pki", "ca.crt"),
		"--kubelet-client-certificate=" + b.path("pki", "kubelet-client.crt"),
		"--kubelet-client-key=" + b.path("pki", "kubelet-client.key"),
		"--kubelet-preferred-address-types=InternalIP",
		"--service-account-key-file=" + b.path("pki", "serviceaccounts.key"),
		"--service-account-signing-key-file=" + b.path("pki", "serviceaccounts.key"),
		"--service-account-issuer=https://" + kubernetesDomain,
		"--service-cluster-ip-range=" + serviceRange,
		"--authorization-mode=Node,RBAC",
		"--enable-admission-plugins=NodeRestriction",
		"--allow-privileged=true",
		"--enable-aggregator-routing=true", // webhooks are dialled at their pods: the host needs no Service address
		"--audit-policy-file=" + b.path("audit-policy.yaml"),
		"--audit-log-path=" + b.auditing.log,
		"--audit-log-maxsize=100000", // megabytes: never rotated, so that Writes misses nothing
	}
}

func (b *Bed) controllerManagerFlags() []string {
	kubeconfig := b.path("pki", "kube-controller-manager.kubeconfig")
	flags := []string{
		"--kubeconfig=" + kubeconfig,
		"--secure-port=0",
		"--leader-elect=false",
		"--use-service-account-credentials=true",
		"--service-account-private-key-file=" + b.path("pki", "serviceaccounts.key"),
		"--root-ca-file=" + b.path("pki", "ca.crt"),
		"--cluster-signing-cert-file=" + b.path("pki", "ca.crt"),
		"--cluster-signing-key-file=" + b.path("pki", "ca.key"),
		"--concurrent-deployment-syncs=20", "--concurrent-replicaset-syncs=20", "--concurrent-gc-syncs=40",
		"--pvclaimbinder-sync-period=1s",
		"--node-monitor-grace-period=" + cmp.Or(b.nodeGrace, nodeGrace).String(), "--node-monitor-period=1s",
		"--node-eviction-rate=10", "--secondary-node-eviction-rate=10",
	}
	if b.layout.volumes != "" {
		flags = append(flags, "--enable-hostpath-provisioner=true")
	}
	if len(b.without) > 0 {
		flags = append(flags, "--controllers=*,-"+strings.Join(b.without, ",-"))
	}
	return append(flags, clientLimits...)
}

func (b *Bed) schedulerFlags() []string {
	flags := []string{
		"--kubeconfig=" + b.path("pki", "kube-scheduler.kubeconfig"),
		"--secure-port=0",
		"--leader-elect=false",
	}
	return append(flags, clientLimits...)
}

// credentials are the certificates the servers themselves use, by file name.
func (b *Bed) credentials() map[string]pki.Subject {
	return map[string]pki.Subject{
		"apiserver": {Name: "kube-apiserver", Addresses: []string{
			b.layout.apiHost, loopback, kubernetesIP, "localhost",
			"kubernetes", "kubernetes.default", kubernetesDomain, kubernetesDomain + "." + clusterDomain,
		}},
		"kubelet-client": {Name: "kube-apiserver-kubelet-client", Groups: []string{masters}},
	}
}

func (b *Bed) writeCredentials() error {
	authority, err := pki.New()
	if err != nil {
		return err
	}
	b.authority = authority
	serviceAccounts, err := pki.Key()
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"pki/ca.crt": authority.Cert, "pki/ca.key": authority.Key,
		"pki/serviceaccounts.key": serviceAccounts,
		"audit-policy.yaml":       []byte(b.auditing.policy),
	}
	for name, subject := range b.credentials() {
		pair, err := authority.Issue(subject)
		if err != nil {
			return err
		}
		files["pki/"+name+".crt"], files["pki/"+name+".key"] = pair.Cert, pair.Key
	}
	if err := os.MkdirAll(b.path("pki"), 0o700); err != nil {
		return fmt.Errorf("make directory of certificates: %w", err)
	}
	for name, content := range files {
		if err := os.WriteFile(b.path(name), content, 0o600); err != nil {
			return fmt.Errorf("write credentials: %w", err)
		}
	}
	return b.writeKubeconfigs()
}

// startTimeout bounds how long the servers may take to be usable on a busy machine.
const startTimeout = 2 * time.Minute
