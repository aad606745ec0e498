package classruntime

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/statecraft-dev/statecraft/internal/classruntime/telemetry"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

// Config is what an installation sets.
type Config struct{ Sources Sources }

// Sources are those of telemetry, as they are named: a class can name one, and cannot bring a URL.
type Sources []NamedSource

// NamedSource is one of them.
type NamedSource struct {
	Name string
	telemetry.Config
}

const (
	defaultWindow   = 2 * time.Minute
	defaultInterval = 15 * time.Second
)

var (
	errSource  = errors.New("not a source of telemetry")
	sourceName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
)

// String implements flag.Value. Addresses are left out: they may have a password in them.
func (s *Sources) String() string {
	if s == nil {
		return ""
	}
	names := make([]string, len(*s))
	for i, one := range *s {
		names[i] = one.Name
	}
	return strings.Join(names, ",")
}

// Set implements flag.Value: it reads one source, such as name=main,url=http://prometheus.monitoring:9090,interval=30s.
func (s *Sources) Set(text string) error {
	one := NamedSource{Config: telemetry.Config{Window: defaultWindow, Interval: defaultInterval}}
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(part, "=")
		if err := one.set(key, value); err != nil {
			return err
		}
	}
	if !sourceName.MatchString(one.Name) || one.URL == "" {
		return fmt.Errorf("%w: it needs a name of small letters, digits and dashes, and a url", errSource)
	}
	for _, other := range *s {
		if other.Name == one.Name {
			return fmt.Errorf("%w: another is called %s as well", errSource, one.Name)
		}
	}
	*s = append(*s, one)
	return nil
}

// set reads one part.
func (n *NamedSource) set(key, value string) (err error) {
	texts := map[string]*string{
		"name": &n.Name, "url": &n.URL, "ca-file": &n.CAFile, "cert-file": &n.CertFile, "key-file": &n.KeyFile, "token-file": &n.TokenFile,
	}
	times := map[string]*time.Duration{"window": &n.Window, "interval": &n.Interval}
	switch {
	case texts[key] != nil:
		*texts[key] = value
	case times[key] != nil:
		if *times[key], err = time.ParseDuration(value); err != nil {
			return fmt.Errorf("%w: %s is no duration", errSource, key)
		}
	default:
		return fmt.Errorf("%w: it has no %s", errSource, key)
	}
	return nil
}

// open makes the clients.
func (s Sources) open(e kube.Env) (map[string]Source, error) {
	sources := map[string]Source{}
	for _, one := range s {
		client, err := telemetry.NewClient(one.Config, e.Now)
		if err != nil {
			return nil, fmt.Errorf("source %s: %w", one.Name, err)
		}
		sources[one.Name] = Source{client, one.Interval}
	}
	return sources, nil
}
