// Package certs makes certificates for tests. It depends on nothing else of the harness, so that tests of pure packages may use it.
package certs

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"
)

// Authority signs certificates.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func template(t testing.TB, name string) *x509.Certificate {
	t.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// NewAuthority makes one, for an hour.
func NewAuthority(t testing.TB, name string) *Authority {
	t.Helper()
	form, key := template(t, name), newKey(t)
	form.IsCA, form.BasicConstraintsValid, form.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &Authority{cert: cert, key: key, pem: encoded("CERTIFICATE", der)}
}

func encoded(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// Issue makes what a Secret for TLS holds: a certificate for a name, its key, and the
// authorities to believe. Servers may show it to each other as well, so it is for both ends
// of a connection.
func (a *Authority) Issue(t testing.TB, name string, believed ...*Authority) map[string]string {
	t.Helper()
	return a.IssueUntil(t, a.cert.NotAfter, name, believed...)
}

// IssueUntil makes one that ends at a time.
func (a *Authority) IssueUntil(t testing.TB, end time.Time, name string, believed ...*Authority) map[string]string {
	t.Helper()
	form, key := template(t, "servers"), newKey(t)
	form.NotAfter = end
	form.DNSNames = []string{name}
	form.KeyUsage = x509.KeyUsageDigitalSignature
	form.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, form, a.cert, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"tls.crt": string(encoded("CERTIFICATE", der)), "tls.key": string(encoded("PRIVATE KEY", private)), "ca.crt": Bundle(believed...),
	}
}

// Bundle is all authorities in one file.
func Bundle(believed ...*Authority) string {
	var b bytes.Buffer
	for _, a := range believed {
		b.Write(a.pem)
	}
	return b.String()
}
