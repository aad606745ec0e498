package sim

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/test/bed"
)

// Lab is a bed made ready for a subject.
type Lab struct {
	bed       *bed.Bed
	subject   *Subject
	scheme    *runtime.Scheme
	admin     client.WithWatch // of users, and of whoever looks from outside
	actor     client.WithWatch // of controllers, with their rights
	config    *rest.Config     // by which controllers reach the API server
	transport func() (http.RoundTripper, error)

	mu    sync.Mutex
	users map[string]client.WithWatch // that stories act as
}

// NewLab makes a bed ready for a subject.
func NewLab(t testing.TB, b *bed.Bed, s *Subject) *Lab {
	t.Helper()
	if s.Install != nil {
		s.Install(t, b)
	}
	lab := &Lab{bed: b, subject: s, scheme: runtime.NewScheme(), users: map[string]client.WithWatch{}}
	if s.Connect != nil {
		lab.config = s.Connect(t, b)
	} else {
		lab.config = b.ConfigFor(s.User, s.Groups...)
	}
	lab.transport = sync.OnceValues(lab.newTransport)
	if err := lab.connect(); err != nil {
		t.Fatal(err)
	}
	return lab
}

func (l *Lab) connect() error {
	adders := []func(*runtime.Scheme) error{clientgoscheme.AddToScheme}
	if l.subject.AddToScheme != nil {
		adders = append(adders, l.subject.AddToScheme)
	}
	for _, add := range adders {
		if err := add(l.scheme); err != nil {
			return fmt.Errorf("register types: %w", err)
		}
	}
	var err error
	options := client.Options{Scheme: l.scheme}
	if l.admin, err = client.NewWithWatch(l.bed.Config(), options); err != nil {
		return fmt.Errorf("connect as user: %w", err)
	}
	if l.actor, err = client.NewWithWatch(l.config, options); err != nil {
		return fmt.Errorf("connect as controller: %w", err)
	}
	return nil
}

// user reaches the API server as somebody else than an administrator.
func (l *Lab) user(name string, groups []string) (client.WithWatch, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.users[name]; c != nil {
		return c, nil
	}
	c, err := client.NewWithWatch(l.bed.ConfigFor(name, groups...), client.Options{Scheme: l.scheme, Mapper: l.admin.RESTMapper()})
	if err != nil {
		return nil, fmt.Errorf("connect as %s: %w", name, err)
	}
	l.users[name] = c
	return c, nil
}
