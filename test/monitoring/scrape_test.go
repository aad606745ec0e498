package monitoring

import (
	"compress/gzip"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/product"
	"github.com/statecraft-dev/statecraft/test/timeout"
)

// scrape is what one scrape of a manager costs.
type scrape struct {
	series, bytes, packed int
	took                  time.Duration
}

// scrapeOnce asks as Prometheus does, which takes the answer packed. Only series that begin with prefix are counted.
func scrapeOnce(t *testing.T, address, token, prefix string) (s scrape, err error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+address+"/metrics", http.NoBody)
	if err != nil {
		return s, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Accept-Encoding", "gzip")
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // it signs its own
	defer web.CloseIdleConnections()
	began := time.Now()
	answer, err := web.Do(request)
	if err != nil {
		return s, err
	}
	defer func() { _ = answer.Body.Close() }()
	packed, err := io.ReadAll(answer.Body)
	s.packed, s.took = len(packed), time.Since(began)
	if err != nil || answer.StatusCode != http.StatusOK {
		return s, fmt.Errorf("the manager answers %d: %w", answer.StatusCode, err)
	}
	plain, err := gzip.NewReader(strings.NewReader(string(packed)))
	if err != nil {
		return s, err
	}
	text, err := io.ReadAll(plain)
	s.bytes = len(text)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, prefix) {
			s.series++
		}
	}
	return s, err
}

// crowd is, at the full level, as many objects as have series of their own by default.
var crowd = harness.ByLevel(200, 5000)

// A scrape of as many clusters as may have series is small and quick enough to be made every few seconds.
func TestAScrapeOfManyClusters(t *testing.T) {
	b := bedtest.ControlPlane(t)
	c, namespace := harness.Client(t, b, valkeyv1.AddToScheme), bedtest.Namespace(t, b)
	token, address := Token(t, c, namespace), FreeAddress(t)
	manager := product.NewManager(t, b, "valkey", "--metrics-bind-address="+address)
	makeClusters(t, b, namespace)
	manager.Start()
	awaitScrape(t, address, token, "statecraft_object_phase_timestamp_seconds{kind=\"ValkeyCluster\"", crowd)
	awaitScrape(t, address, token, "statecraft_valkey_last_look_timestamp_seconds{", crowd)
	var took []time.Duration
	var last scrape
	for range 20 {
		s, err := scrapeOnce(t, address, token, "statecraft_")
		if err != nil {
			t.Fatal(err)
		}
		last, took = s, append(took, s.took)
	}
	slices.Sort(took)
	t.Logf("%d clusters: %d series, %.1f MB, %.2f MB packed, %s to scrape (median of 20; slowest %s)",
		crowd, last.series, float64(last.bytes)/1e6, float64(last.packed)/1e6, took[10].Round(time.Millisecond), took[19].Round(time.Millisecond))
	if last.series < 10*crowd || last.series > 15*crowd+2000 {
		t.Errorf("%d series", last.series)
	}
	if took[10] > 3*time.Second {
		t.Errorf("a scrape takes %s", took[10])
	}
}

func awaitScrape(t *testing.T, address, token, prefix string, want int) {
	t.Helper()
	harness.Eventually(t, 5*timeout.Wait, time.Second, func() error {
		s, err := scrapeOnce(t, address, token, prefix)
		if err == nil && s.series < want {
			err = fmt.Errorf("%d of %d series %s", s.series, want, prefix)
		}
		return err
	})
}

// makeClusters makes clusters that are paused, so that their manager makes no children.
func makeClusters(t *testing.T, b *bed.Bed, namespace string) {
	t.Helper()
	c := harness.Client(t, b, valkeyv1.AddToScheme)
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(32)
	for i := range crowd {
		g.Go(func() error {
			cluster := &valkeyv1.ValkeyCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("cluster-%04d", i)}}
			cluster.Spec.Paused = true
			return c.Create(ctx, cluster)
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}
