//go:build full

package valkey

import (
	"crypto/tls"
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/certs"
	"github.com/statecraft-dev/statecraft/test/harness/writer"
)

// TestSecurityEverythingElseIsChangedUnderLoad replaces the certificates by those of another authority, in one edit, and
// then the passwords by which the operator and the servers log on, while an application writes.
func TestSecurityEverythingElseIsChangedUnderLoad(t *testing.T) {
	s, m, safe, vkc := newSecured(t)
	next := certs.NewAuthority(t, "shop, the next")
	option := safe.option(s.addr(vkc))
	option.TLSConfig.RootCAs.AppendCertsFromPEM([]byte(certs.Bundle(next))) // believes both, as the docs say
	w := writer.StartWith(t, option)
	w.Await(t, writesBefore)
	was := s.applied(vkc, "")

	began := time.Now()
	safe.certificates.StringData = next.Issue(t, name+"."+safe.namespace+".svc", next)
	s.update(safe.certificates)
	only := safe
	only.authority = next
	for pod := range s.pods(vkc) {
		s.shows(only, s.addrOf(vkc, pod))
	}
	was = s.applied(vkc, was)
	harness.Row(t, "another authority after %s", time.Since(began).Round(time.Second))

	began = time.Now()
	before := vkc.DeepCopy()
	vkc.Spec.Auth.Rotation = 1
	s.must(s.Client.Patch(t.Context(), vkc, client.MergeFrom(before)))
	s.applied(vkc, was)
	harness.Row(t, "other passwords of the operator's users after %s", time.Since(began).Round(time.Second))
	s.running(vkc)
	w.Check(t)
	s.unspoken(vkc, m)
	s.empty(vkc.Namespace, vkc)
}

// shows waits until a server is believed by those who believe one authority alone.
func (s *stage) shows(safe secured, addr string) {
	s.T.Helper()
	harness.Eventually(s.T, rotatedWithin, poll, func() error {
		connection, err := tls.Dial("tcp", addr, safe.option(addr).TLSConfig)
		if err != nil {
			return fmt.Errorf("reach %s: %w", addr, err)
		}
		return connection.Close()
	})
}

// TestUpgradeIsNotNeededForSettings changes a setting that servers can change while they run: no pod is replaced.
func TestUpgradeIsNotNeededForSettings(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	vkc, w := s.busy(plain)
	was, before := s.pods(vkc), vkc.DeepCopy()
	began := time.Now()
	vkc.Spec.Config = map[string]valkeyv1.ConfigValue{"slowlog-log-slower-than": "4711"}
	s.must(s.Client.Patch(t.Context(), vkc, client.MergeFrom(before)))
	for pod := range was {
		harness.Eventually(t, runningWithin, poll, func() error {
			if got := s.exec(vkc.Namespace, pod, "valkey-cli", "config", "get", "slowlog-log-slower-than"); got != "slowlog-log-slower-than\n4711\n" {
				return fmt.Errorf("%s has %q", pod, got)
			}
			return nil
		})
	}
	harness.Row(t, "every server has it after %s", time.Since(began).Round(100*time.Millisecond))
	s.kubectl("wait", "-n", vkc.Namespace, "vkc/"+vkc.Name, "--for=condition=ConfigApplied", "--timeout=1m")
	for pod, p := range s.pods(vkc) {
		if p.UID != was[pod].UID {
			t.Errorf("%s was replaced", pod)
		}
	}
	w.Check(t)
	s.empty(vkc.Namespace, vkc)
}
