package node

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	"github.com/statecraft-dev/statecraft/internal/valkey/wire"
)

// Access is how this program logs on to servers. Secrets are named by file: what is
// in arguments and in the environment can be read by others, and does not change.
type Access struct {
	// UsersDir holds the passwords of all users, in files that package access names;
	// "" is without passwords.
	UsersDir string
	// TLSDir holds ca.crt; "" is without TLS.
	TLSDir string
	// ServerName is what all servers' certificates are for: they are found by address.
	ServerName string
}

var errNoCertificate = errors.New("no certificate in it")

// wire is the access as a client takes it.
func (a Access) wire() (wire.Access, error) {
	var w wire.Access
	if a.UsersDir != "" {
		w.Login = func() (string, []access.Password, error) {
			files, err := userFiles(a.UsersDir)
			if err != nil {
				return access.Operator, nil, err
			}
			own, err := access.ParseOwn(files) // whatever may be wrong with the application's
			return access.Operator, own.Logins(), err
		}
	}
	if a.TLSDir == "" {
		return w, nil
	}
	files, err := readFiles(a.TLSDir, access.AuthoritiesFile, access.CertificateFile, access.BeforeFile)
	if err != nil {
		return w, fmt.Errorf("read certificates: %w", err)
	}
	v := access.Verification{Authorities: files[access.AuthoritiesFile], Name: a.ServerName, Given: files[access.CertificateFile] + "\n" + files[access.BeforeFile]}
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(v.Authorities)) {
		return w, fmt.Errorf("read %s from %s: %w", access.AuthoritiesFile, a.TLSDir, errNoCertificate)
	}
	w.TLS = v.TLS(time.Now)
	return w, nil
}

// client logs on to any server of the cluster.
func (a Access) client() (*wire.Client, error) {
	w, err := a.wire()
	if err != nil {
		return nil, err
	}
	return wire.NewClientWith(w), nil
}

// userFiles reads a directory of users.
func userFiles(dir string) (map[string]string, error) {
	files, err := readFiles(dir, access.FileNames()...)
	if err != nil {
		return nil, fmt.Errorf("read users: %w", err)
	}
	return files, nil
}

// readFiles reads files of a directory, all of one delivery: a kubelet replaces them as a whole, and
// takes those before away while somebody reads. Which of them may be missing is for others to say.
func readFiles(dir string, names ...string) (map[string]string, error) {
	for {
		before := delivery(dir)
		files, err := readEach(dir, names)
		if err != nil || before == delivery(dir) {
			return files, err
		}
	}
}

// delivery names where the files of a directory are at the moment. The link is read and not followed: what it leads to may
// be taken away while it is.
func delivery(dir string) string {
	if to, err := os.Readlink(filepath.Join(dir, "..data")); err == nil {
		return to
	}
	path, _ := filepath.EvalSymlinks(dir) // no kubelet delivers it
	return path
}

func readEach(dir string, names []string) (map[string]string, error) {
	files := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		files[name] = string(text)
	}
	return files, nil
}
