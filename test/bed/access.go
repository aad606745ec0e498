package bed

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/statecraft-dev/statecraft/test/bed/internal/pki"
)

const (
	admin   = "admin"
	masters = "system:masters"
)

// Config reaches the API server as a cluster administrator, without client-side limits.
func (b *Bed) Config() *rest.Config { return b.ConfigFor(admin, masters) }

// ConfigFor reaches the API server as the named user by a client certificate, without client-side limits. The
// user can do what RBAC grants to that name and those groups.
func (b *Bed) ConfigFor(user string, groups ...string) *rest.Config {
	pair, err := b.authority.Issue(pki.Subject{Name: user, Groups: groups})
	if err != nil {
		panic(err) // signing with a key in memory: only a broken Go runtime gets here
	}
	return &rest.Config{
		Host: b.layout.apiURL(),
		TLSClientConfig: rest.TLSClientConfig{
			CAData: b.authority.Cert, CertData: pair.Cert, KeyData: pair.Key,
		},
		QPS: -1,
	}
}

// Kubeconfig is the path of an administrator's kubeconfig.
func (b *Bed) Kubeconfig() string { return b.path("kubeconfig") }

// KubeconfigFor writes a kubeconfig of the named user and returns its path.
func (b *Bed) KubeconfigFor(user string, groups ...string) (string, error) {
	name := strings.Join(append([]string{user}, groups...), ",")
	path := b.path("pki", strings.ReplaceAll(name, "/", "_")+".kubeconfig")
	return path, b.writeKubeconfig(path, user, groups...)
}

// writeKubeconfigs writes those of the administrator and of the controllers, which RBAC knows by name.
func (b *Bed) writeKubeconfigs() error {
	for _, component := range []string{"kube-controller-manager", "kube-scheduler"} {
		path := b.path("pki", component+".kubeconfig")
		if err := b.writeKubeconfig(path, "system:"+component); err != nil {
			return err
		}
	}
	return b.writeKubeconfig(b.Kubeconfig(), admin, masters)
}

func (b *Bed) writeKubeconfig(path, user string, groups ...string) error {
	config := b.ConfigFor(user, slices.Clone(groups)...)
	const cluster = "bed"
	kubeconfig := clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{
			cluster: {Server: config.Host, CertificateAuthorityData: config.CAData},
		},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{
			user: {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData},
		},
		Contexts:       map[string]*clientcmdapi.Context{cluster: {Cluster: cluster, AuthInfo: user}},
		CurrentContext: cluster,
	}
	content, err := clientcmd.Write(kubeconfig)
	if err != nil {
		return fmt.Errorf("encode kubeconfig of %s: %w", user, err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return fmt.Errorf("write kubeconfig of %s: %w", user, err)
	}
	return nil
}
