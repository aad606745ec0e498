package access

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Keys is all that opens the servers of one cluster, as its Secrets have it now.
type Keys struct {
	Secrets Secrets // empty where there are no passwords
	// Certificate is the SHA-256 of the certificate that servers are to show, in
	// hexadecimal; "" is without TLS.
	Certificate string
	// Authorities are whom servers and clients are to believe, as they were read.
	Authorities string
}

// Print tells keys apart, and gives none of them away: first the passwords, and after the
// dash the certificates.
func (k Keys) Print() string {
	parts := []string{k.Secrets.ApplicationName}
	for _, list := range [][]Password{k.Secrets.Operator, k.Secrets.Replication, k.Secrets.Application} {
		for _, p := range list {
			parts = append(parts, string(p.Hash()))
		}
		parts = append(parts, "")
	}
	return printOf(parts...) + "-" + printOf(k.Certificate, k.Authorities)
}

func printOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:])[:12]
}

// SameCertificates says that two prints differ in passwords at most.
func SameCertificates(a, b string) bool {
	_, certificatesA, _ := strings.Cut(a, "-")
	_, certificatesB, _ := strings.Cut(b, "-")
	return certificatesA == certificatesB
}
