package harness

import (
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/statecraft-dev/statecraft/test/bed"
)

// KubeconfigForPod writes a kubeconfig of a ServiceAccount with a token that is bound to a pod, as ConfigForPod makes it.
func KubeconfigForPod(t testing.TB, b *bed.Bed, namespace, account string) string {
	t.Helper()
	cfg, _ := ConfigForPod(t, b, namespace, account)
	const name = "bed"
	content, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: cfg.Host, CertificateAuthorityData: cfg.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {Token: cfg.BearerToken}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), account+".kubeconfig")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
