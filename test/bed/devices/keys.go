package devices

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base32"
	"encoding/pem"
	"fmt"
	"strings"
)

// identity is the key of a device, and the name that follows from it.
type identity struct {
	key  *ecdsa.PrivateKey
	name string
}

// newIdentity makes a key. Flight Control wants the name to be a hash of it.
func newIdentity() (identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, fmt.Errorf("make key of device: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return identity{}, fmt.Errorf("encode key of device: %w", err)
	}
	sum := sha256.Sum256(public)
	name := base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:])
	return identity{key, strings.ToLower(name)}, nil
}

// request is a certificate request, as PEM.
func (i identity) request(name string) ([]byte, error) {
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		SignatureAlgorithm: x509.ECDSAWithSHA256, Subject: pkix.Name{CommonName: name},
	}, i.key)
	if err != nil {
		return nil, fmt.Errorf("request certificate: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), nil
}

// certificate is what the server has signed, with the key.
func (i identity) certificate(signed []byte) (tls.Certificate, error) {
	der, err := x509.MarshalECPrivateKey(i.key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("encode key: %w", err)
	}
	pair, err := tls.X509KeyPair(signed, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("read certificate: %w", err)
	}
	return pair, nil
}
