package sim

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
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
	transport func() (http.RoundTripper, error)
}

// NewLab makes a bed ready for a subject.
func NewLab(t testing.TB, b *bed.Bed, s *Subject) *Lab {
	t.Helper()
	if s.Install != nil {
		s.Install(t, b)
	}
	lab := &Lab{bed: b, subject: s, scheme: runtime.NewScheme()}
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
	if l.actor, err = client.NewWithWatch(l.bed.ConfigFor(l.subject.User, l.subject.Groups...), options); err != nil {
		return fmt.Errorf("connect as controller: %w", err)
	}
	return nil
}
