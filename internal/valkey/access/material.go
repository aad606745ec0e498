package access

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Material is what servers show of themselves, and whom they believe. All of it is PEM.
type Material struct {
	Certificate string
	Key         Password
	Authorities string
}

// The files of a directory of certificates.
const (
	CertificateFile = "tls.crt"
	KeyFile         = "tls.key"
	AuthoritiesFile = "ca.crt"
	// BeforeFile is the certificate that servers showed before: some still may.
	BeforeFile = "before.crt"
)

// ParseMaterial reads the files of a directory of certificates, by name.
func ParseMaterial(files map[string]string) Material {
	return Material{Certificate: files[CertificateFile], Key: NewPassword(files[KeyFile]), Authorities: files[AuthoritiesFile]}
}

// MaterialFiles names the files of one material.
type MaterialFiles struct{ Certificate, Key, Authorities string }

// FilesOf names the files of the material of a name; "" is the one to start with. Files
// whose name follows their content are loaded as what they are or not at all: from one
// that is called the same whatever is in it nobody can tell what a server loaded.
func FilesOf(name string) MaterialFiles {
	if name == "" {
		return MaterialFiles{CertificateFile, KeyFile, AuthoritiesFile}
	}
	return MaterialFiles{"tls-" + name + ".crt", "tls-" + name + ".key", "ca-" + name + ".crt"}
}

// Name follows the content.
func (m Material) Name() string {
	sum := sha256.New()
	for _, part := range []string{m.Certificate, m.Key.Reveal(), m.Authorities} {
		own := sha256.Sum256([]byte(part))
		sum.Write(own[:])
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// Files is a directory of certificates: the material to start with, which is also there by
// its name.
func (m Material) Files() map[string]string {
	files := map[string]string{}
	for _, f := range []MaterialFiles{FilesOf(""), FilesOf(m.Name())} {
		files[f.Certificate], files[f.Key], files[f.Authorities] = m.Certificate, m.Key.Reveal(), m.Authorities
	}
	return files
}

// LoadedBy is the name of the material that files are of; false if they are of none, or of
// the one to start with.
func LoadedBy(files MaterialFiles) (name string, named bool) {
	name, _ = strings.CutPrefix(strings.TrimSuffix(files.Certificate, ".crt"), "tls-")
	return name, name != "" && files == FilesOf(name)
}

// NextMaterial is what servers should load now, so that they show what is given in the end
// and always believe each other: new authorities are believed before one of theirs is shown,
// and old ones until none of theirs is. It is to be loaded by every server before the next is
// asked for.
func NextMaterial(served, given Material) Material {
	same := served.Certificate == given.Certificate && served.Key == given.Key
	ready := believes(served.Authorities, given.Authorities)
	needed := !believes(given.Authorities, served.Authorities) // there are old ones
	switch {
	case same && (ready || !needed), ready && !needed:
		return given
	case !ready:
		served.Authorities = union(served.Authorities, given.Authorities)
	default:
		served.Certificate, served.Key = given.Certificate, given.Key
	}
	return served
}

// believes says that all certificates of other are in text.
func believes(text, other string) bool {
	return len(split(union(text, other))) == len(split(union(text)))
}

// union is all certificates of both texts, once each.
func union(texts ...string) string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, block := range split(strings.Join(texts, "\n")) {
		if !seen[string(block.Bytes)] {
			seen[string(block.Bytes)] = true
			b.Write(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))
		}
	}
	return b.String()
}

func split(text string) (blocks []*pem.Block) {
	for rest := []byte(text); ; {
		block, after := pem.Decode(rest)
		if block == nil {
			return blocks
		}
		if block.Type == "CERTIFICATE" {
			blocks = append(blocks, block)
		}
		rest = after
	}
}

// ErrUnfit says that servers would not work with a material.
var ErrUnfit = errors.New("certificates are not fit for use")

// Check says whether servers and clients can use the material: before any server loads it,
// for one that cannot would be alone with it after its next start. Servers show the same
// certificate at both ends of a connection, so it must be for both.
func (m Material) Check(serverName string, now time.Time) error {
	pair, err := tls.X509KeyPair([]byte(m.Certificate), []byte(m.Key.Reveal()))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnfit, err)
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(m.Authorities)) {
		return fmt.Errorf("%w: no authority in %s", ErrUnfit, AuthoritiesFile)
	}
	between.AppendCertsFromPEM([]byte(m.Certificate))
	for _, use := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		_, err := pair.Leaf.Verify(x509.VerifyOptions{
			DNSName: serverName, Roots: roots, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{use},
		})
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUnfit, err)
		}
	}
	return nil
}
