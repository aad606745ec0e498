package plugin

import (
	"fmt"
	"net/http"
	"regexp"
)

// readOnly lets nothing out that would write, or read a Secret, whatever the code above asks for.
type readOnly struct{ http.RoundTripper }

// secrets are the addresses of Secrets; a namespace, or an object of another kind, may bear that name.
var secrets = regexp.MustCompile(`/api/v1/(watch/)?(namespaces/[^/]+/)?secrets(/|$)`)

// RoundTrip implements http.RoundTripper.
func (r readOnly) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet {
		return nil, fmt.Errorf("%s %s is refused: this program only reads", req.Method, req.URL.Path)
	}
	if secrets.MatchString(req.URL.Path) {
		return nil, fmt.Errorf("%s is refused: this program reads no Secrets", req.URL.Path)
	}
	return r.RoundTripper.RoundTrip(req)
}
