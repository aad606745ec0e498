package access

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Verification is how servers are known: by their authorities, and by the name that all have.
//
// A certificate that servers were given is believed from them after its end, too: whoever has
// its key is still who it was, and can be given another only by somebody who connects.
type Verification struct {
	Authorities string // PEM
	Name        string
	Given       string // PEM, those that servers may show
}

var errNoCertificate = errors.New("the server shows no certificate")

// TLS is the verification as clients take it. Go's own cannot tell one end from another, so it
// is done here, with all the rest that it would look at, by a clock that is given.
func (v Verification) TLS(now func() time.Time) *tls.Config {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(v.Authorities))
	given := split(v.Given)
	return &tls.Config{
		ServerName: v.Name, MinVersion: tls.VersionTLS12,
		InsecureSkipVerify: true, //nolint:gosec // it is verified below
		VerifyConnection: func(c tls.ConnectionState) error {
			if len(c.PeerCertificates) == 0 {
				return errNoCertificate
			}
			leaf, options := c.PeerCertificates[0], x509.VerifyOptions{DNSName: v.Name, Roots: roots, Intermediates: x509.NewCertPool(), CurrentTime: now()}
			for _, between := range c.PeerCertificates[1:] {
				options.Intermediates.AddCert(between)
			}
			if options.CurrentTime.After(leaf.NotAfter) && slices.ContainsFunc(given, func(b *pem.Block) bool { return slices.Equal(b.Bytes, leaf.Raw) }) {
				options.CurrentTime = leaf.NotAfter
			}
			if _, err := leaf.Verify(options); err != nil {
				return fmt.Errorf("verify server: %w", err)
			}
			return nil
		},
	}
}

// Ended says that the certificate is not valid any more: no new connection is made with it.
func (m Material) Ended(now time.Time) bool {
	for _, block := range split(m.Certificate) {
		leaf, err := x509.ParseCertificate(block.Bytes) // the first one is the server's own
		return err == nil && now.After(leaf.NotAfter)
	}
	return false
}
