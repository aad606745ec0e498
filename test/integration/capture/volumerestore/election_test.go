package volumerestore

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/monitoring"
)

// isElected runs a restorer as drivers with several replicas do: it restores once it is elected, and shows its metrics to
// those who may read them. All of that needs rights of its account.
func isElected(t *testing.T, s *storage, namespace string) {
	s.capture(t, namespace, capturev1.Snapshot, orders)
	metrics := freeAddress(t)
	s.restorer.kill(t)
	s.restorer.start(t, "--lease-duration=7s", "--renew-deadline=2s", "--retry-period=500ms", "--metrics-bind-address="+metrics)
	t.Cleanup(func() {
		s.restorer.kill(t)
		s.restorer.start(t, alone)
	})
	r := restoreOf(namespace, "back", bed.CSIClass)
	s.create(t, r)
	s.ended(t, r, capturev1.ReasonCompleted)

	lease := &coordinationv1.Lease{}
	key := client.ObjectKey{Namespace: harness.SystemNamespace, Name: "statecraft-restorer-" + bed.DriverName}
	if err := s.client.Get(t.Context(), key, lease); err != nil || ptr.Deref(lease.Spec.HolderIdentity, "") == "" {
		t.Errorf("the restorer restored without an election: %v, %+v", err, lease.Spec)
	}
	token := monitoring.Token(t, s.client, namespace)
	harness.Eventually(t, soon, poll, func() error {
		if code, err := scrape(t, metrics, token); err != nil || code != http.StatusOK {
			return fmt.Errorf("one who may read metrics gets %d: %w", code, err)
		}
		return nil
	})
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // only the number was wanted
	return l.Addr().String()
}

func scrape(t *testing.T, address, token string) (int, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // it signs its own
	defer web.CloseIdleConnections()
	answer, err := web.Do(request)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}
