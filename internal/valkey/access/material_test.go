package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// block is a certificate in name only.
func block(names ...string) string {
	var b strings.Builder
	for _, n := range names {
		b.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte(n)}))
	}
	return b.String()
}

// material is a certificate by an authority, and the authorities to believe.
func material(by string, believed ...string) Material {
	return Material{Certificate: block("by " + by), Key: NewPassword("key by " + by), Authorities: block(believed...)}
}

func TestNextMaterial(t *testing.T) {
	other := material("a", "a")
	other.Certificate, other.Key = block("by a again"), NewPassword("again")
	for name, c := range map[string]struct {
		served, given Material
		want          []Material // one after the other
	}{
		"the same":                    {material("a", "a"), material("a", "a"), nil},
		"a new certificate":           {material("a", "a"), other, []Material{other}},
		"one more authority":          {material("a", "a"), material("a", "a", "b"), []Material{material("a", "a", "b")}},
		"one authority less":          {material("a", "a", "b"), material("a", "a"), []Material{material("a", "a")}},
		"the order of authorities":    {material("a", "a", "b"), material("a", "b", "a"), []Material{material("a", "b", "a")}},
		"another authority":           {material("a", "a"), material("b", "b"), []Material{material("a", "a", "b"), material("b", "a", "b"), material("b", "b")}},
		"another, and the old stays":  {material("a", "a"), material("b", "b", "a"), []Material{material("a", "a", "b"), material("b", "b", "a")}},
		"back before it came to that": {material("a", "a", "b"), material("a", "a"), []Material{material("a", "a")}},
		"back after it came to that":  {material("b", "a", "b"), material("a", "a"), []Material{material("a", "a", "b"), material("a", "a")}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []Material
			for served := c.served; served != c.given; {
				next := NextMaterial(served, c.given)
				if got = append(got, next); len(got) > 4 {
					t.Fatal("it never ends")
				}
				// Servers load it one after the other: each believes what the other shows.
				for _, pair := range [][2]Material{{served, next}, {next, served}} {
					shown := strings.TrimPrefix(string(split(pair[0].Certificate)[0].Bytes), "by ")
					if !believes(pair[1].Authorities, block(strings.Fields(shown)[0])) {
						t.Errorf("what is shown by %s is not believed", shown)
					}
				}
				served = next
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(Password{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestMaterialFiles(t *testing.T) {
	m := material("a", "a")
	files := m.Files()
	if len(files) != 6 || ParseMaterial(files) != m {
		t.Errorf("the files are %v", files)
	}
	name, named := LoadedBy(FilesOf(m.Name()))
	if !named || name != m.Name() || len(name) != 16 {
		t.Errorf("loaded %q, %v", name, named)
	}
	for _, other := range []MaterialFiles{{}, FilesOf(""), {"tls-1.crt", "tls-2.key", "ca-1.crt"}} {
		if name, named := LoadedBy(other); named {
			t.Errorf("%v is of %q", other, name)
		}
	}
	if material("a", "b").Name() == m.Name() || material("b", "a").Name() == m.Name() {
		t.Error("another content has the same name")
	}
}

// issued is a real certificate, of an authority of its own.
func issued(t *testing.T, name string, until time.Time, uses ...x509.ExtKeyUsage) Material {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	authority := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, NotAfter: until, KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{name}, NotAfter: until, ExtKeyUsage: uses}
	var texts []string
	for _, c := range []*x509.Certificate{authority, leaf} {
		der, err := x509.CreateCertificate(rand.Reader, c, authority, key.Public(), key)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return Material{Certificate: texts[1], Authorities: texts[0],
		Key: NewPassword(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))}
}

func TestCheck(t *testing.T) {
	const name = "shop.default.svc"
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	both := []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	good, other := issued(t, name, now.Add(time.Hour), both...), issued(t, name, now.Add(time.Hour), both...)
	for words, c := range map[string]struct {
		Material
		fit bool
	}{
		"all is well":              {good, true},
		"for any use":              {issued(t, name, now.Add(time.Hour)), true},
		"for servers only":         {issued(t, name, now.Add(time.Hour), both[0]), false},
		"for clients only":         {issued(t, name, now.Add(time.Hour), both[1]), false},
		"for another name":         {issued(t, "else", now.Add(time.Hour), both...), false},
		"no longer valid":          {issued(t, name, now.Add(-time.Hour), both...), false},
		"the key of another":       {Material{good.Certificate, other.Key, good.Authorities}, false},
		"by another authority":     {Material{good.Certificate, good.Key, other.Authorities}, false},
		"no authority":             {Material{good.Certificate, good.Key, "none"}, false},
		"no certificate":           {Material{"", good.Key, good.Authorities}, false},
		"one authority of several": {Material{good.Certificate, good.Key, other.Authorities + good.Authorities}, true},
	} {
		if err := c.Check(name, now); (err == nil) != c.fit || err != nil && !errors.Is(err, ErrUnfit) {
			t.Errorf("%s: %v", words, err)
		}
	}
}
