package access_test

import (
	"crypto/tls"
	"io"
	"testing"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/test/harness/certs"
)

// Whom a client believes: names and authorities as ever, and after its end the one certificate
// that servers were given.
func TestVerification(t *testing.T) {
	const name = "shop.default.svc"
	ours, others := certs.NewAuthority(t, "ours"), certs.NewAuthority(t, "others")
	past := time.Now().Add(-time.Minute)
	ended := ours.IssueUntil(t, past, name)
	for what, c := range map[string]struct {
		shown  map[string]string
		given  map[string]string
		denied bool
	}{
		"valid":                             {ours.Issue(t, name), nil, false},
		"of another authority":              {others.Issue(t, name), nil, true},
		"for another name":                  {ours.Issue(t, "other.default.svc"), nil, true},
		"ended":                             {ended, nil, true},
		"ended, and it was given":           {ended, ended, false},
		"ended, and another was given":      {ours.IssueUntil(t, past, name), ended, true},
		"ended, given, of another":          {others.IssueUntil(t, past, name), nil, true},
		"ended, given, for another name":    {ours.IssueUntil(t, past, "other.default.svc"), nil, true},
		"not the first that it was given":   {ours.Issue(t, name), ended, false},
		"given, and of another authority":   {others.Issue(t, name), ended, true},
		"ended, given, beside a second one": {ended, map[string]string{"tls.crt": ours.Issue(t, name)["tls.crt"] + ended["tls.crt"]}, false},
	} {
		if c.given == nil && what != "ended" {
			c.given = c.shown
		}
		v := access.Verification{Authorities: certs.Bundle(ours), Name: name, Given: c.given["tls.crt"]}
		if err := handshake(t, c.shown, v.TLS(time.Now)); (err != nil) != c.denied {
			t.Errorf("%s: %v", what, err)
		}
	}
	if !access.ParseMaterial(ended).Ended(time.Now()) || access.ParseMaterial(ours.Issue(t, name)).Ended(time.Now()) || (access.Material{}).Ended(time.Now()) {
		t.Error("what has ended")
	}
}

func handshake(t *testing.T, shown map[string]string, by *tls.Config) error {
	t.Helper()
	pair, err := tls.X509KeyPair([]byte(shown["tls.crt"]), []byte(shown["tls.key"]))
	if err != nil {
		t.Fatal(err)
	}
	at, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = at.Close() }()
	go func() {
		conn, err := at.Accept()
		if err == nil {
			_, _ = io.Copy(io.Discard, conn) // shakes hands, and reads until the client goes
		}
	}()
	conn, err := (&tls.Dialer{Config: by}).DialContext(t.Context(), "tcp", at.Addr().String())
	if err != nil {
		return err
	}
	return conn.Close()
}
