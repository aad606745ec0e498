package access

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Keys is all that opens the servers of one cluster, as its Secrets have it now.
type Keys struct {
	Secrets Secrets // empty where there are no passwords
	// Rotation is the number that the operator's own passwords were made for.
	Rotation string
	// Staged is what servers find in their files, and the operator keeps; Given is what the
	// user's Secret holds, to which servers come stage by stage. Both are empty without TLS;
	// Staged alone is where nothing is kept yet, or not any more.
	Staged, Given Material
	// Before is the certificate that was staged before this one.
	Before string
	// Doubt is what is wrong with what the user brings. It changes nothing at servers then.
	Doubt string
}

// Believed are the authorities by which servers are known: those of the stage that they are
// at, which are also those of the stages before and after it.
func (k Keys) Believed() string {
	if k.Staged == (Material{}) {
		return k.Given.Authorities
	}
	return k.Staged.Authorities
}

// Verification is how servers of a name are known.
func (k Keys) Verification(name string) Verification {
	return Verification{Authorities: k.Believed(), Name: name, Given: k.Staged.Certificate + "\n" + k.Before}
}

// Print tells keys apart by where they lead, and gives none of them away: first the
// passwords, and after the dash the certificates.
func (k Keys) Print() string {
	parts := []string{k.Secrets.ApplicationName, string(k.Secrets.Newest())}
	for _, p := range k.Secrets.Application {
		parts = append(parts, string(p.Hash()))
	}
	return printOf(parts...) + "-" + printOf(k.Given.Name())
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
