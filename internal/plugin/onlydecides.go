package plugin

import (
	"fmt"
	"net/http"
	"strings"

	"k8s.io/client-go/rest"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

// onlyDecides lets one thing out that writes: a new decision about an execution of one namespace. The API server writes
// into it who made it.
type onlyDecides struct {
	http.RoundTripper
	path string
}

// RoundTrip implements http.RoundTripper.
func (d onlyDecides) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method == http.MethodPost && req.URL.Path == d.path {
		return d.RoundTripper.RoundTrip(req)
	}
	return readOnly{d.RoundTripper}.RoundTrip(req)
}

// decisions is the address of the decisions of a namespace.
func decisions(cfg *rest.Config, namespace string) (string, error) {
	base, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return "", fmt.Errorf("find the cluster: %w", err)
	}
	if namespace == "" || strings.Contains(namespace, "/") {
		return "", fmt.Errorf("%q is no namespace", namespace)
	}
	return strings.TrimSuffix(base.Path, "/") + "/apis/" + remediationv1.GroupVersion.String() + "/namespaces/" + namespace + "/executionapprovals", nil
}
