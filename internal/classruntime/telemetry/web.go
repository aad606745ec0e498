package telemetry

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// largest is how much of an answer is read: 64 functions of 200 classes have a few megabytes.
const largest = 64 << 20

var errNoCertificate = errors.New("no certificate in it")

// web makes the client of HTTP.
func (c Config) web() (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CAFile != "" {
		text, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read authority of the source: %w", err)
		}
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("read authority of the source %s: %w", c.CAFile, errNoCertificate)
		}
	}
	if c.CertFile != "" {
		transport.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
			return &pair, err
		}
	}
	return &http.Client{
		Transport: &authorized{transport, c.TokenFile},
		// NOTE: a redirect would take the token elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// authorized sends the token that is in its file by now, and reads no answer without end.
type authorized struct {
	next      *http.Transport
	tokenFile string
}

// RoundTrip implements http.RoundTripper.
func (a *authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.tokenFile != "" {
		token, err := os.ReadFile(a.tokenFile)
		if err != nil {
			return nil, fmt.Errorf("read token for the source: %w", err)
		}
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	}
	answer, err := a.next.RoundTrip(r)
	if err == nil {
		answer.Body = limited{io.LimitReader(answer.Body, largest), answer.Body}
	}
	return answer, err
}

// CloseIdleConnections ends those of the transport.
func (a *authorized) CloseIdleConnections() { a.next.CloseIdleConnections() }

type limited struct {
	io.Reader
	io.Closer
}
