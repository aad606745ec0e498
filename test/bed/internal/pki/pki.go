// Package pki makes the certificates of one bed: an authority of its own, and what it signs.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// lifetime is far longer than any bed lives, and starts early for clocks that differ a little.
const (
	lifetime = 30 * 24 * time.Hour
	early    = time.Hour
)

// Authority signs what one bed trusts.
type Authority struct {
	Pair
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Pair is a certificate and its key, both as PEM.
type Pair struct{ Cert, Key []byte }

// Subject is who a certificate speaks for. Addresses make it fit for serving.
type Subject struct {
	Name      string
	Groups    []string
	Addresses []string // IP addresses and DNS names
}

// New makes an authority.
func New() (*Authority, error) {
	key, keyPEM, err := newKey()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial(),
		Subject:               pkix.Name{CommonName: "statecraft-bed"},
		NotBefore:             time.Now().Add(-early),
		NotAfter:              time.Now().Add(lifetime),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("sign authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("parse authority: %w", err)
	}
	return &Authority{Pair: Pair{Cert: certPEM(der), Key: keyPEM}, cert: cert, key: key}, nil
}

// Issue signs a certificate that its subject may both serve and dial with.
func (a *Authority) Issue(subject Subject) (Pair, error) {
	key, keyPEM, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial(),
		Subject:      pkix.Name{CommonName: subject.Name, Organization: subject.Groups},
		NotBefore:    time.Now().Add(-early),
		NotAfter:     time.Now().Add(lifetime),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	for _, address := range subject.Addresses {
		if ip := net.ParseIP(address); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, address)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("sign certificate of %s: %w", subject.Name, err)
	}
	return Pair{Cert: certPEM(der), Key: keyPEM}, nil
}

// Key makes a bare private key, as service account tokens are signed with.
func Key() ([]byte, error) {
	_, keyPEM, err := newKey()
	return keyPEM, err
}

func newKey() (*ecdsa.PrivateKey, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, fmt.Errorf("encode key: %w", err)
	}
	return key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

func certPEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// serial is random, so that certificates of one authority differ without it keeping count.
func serial() *big.Int {
	var raw [16]byte
	_, _ = rand.Read(raw[:]) // never fails: crypto/rand ends the program instead
	return new(big.Int).SetBytes(raw[:])
}
