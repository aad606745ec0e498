package bulk

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
)

// Reader reads all objects page by page, as kubectl does, and throws them away: the least that a capture has to do.
type Reader struct {
	host string
	http *http.Client
}

// NewReader makes one. Answers are not compressed: on loopback that costs more than it saves.
func NewReader(t testing.TB, config *rest.Config) *Reader {
	t.Helper()
	config.DisableCompression = true
	c, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return &Reader{host: config.Host, http: c}
}

// Read reads a namespace, and says how long it took and how many bytes there were.
func (r *Reader) Read(t testing.TB, namespace string) (took time.Duration, bytes int64) {
	t.Helper()
	began := time.Now()
	for _, k := range Kinds() {
		root := "/apis/" + k.Group
		if k.Group == "" {
			root = "/api"
		}
		for token := ""; ; {
			body := r.get(t, fmt.Sprintf("%s%s/%s/namespaces/%s/%s?limit=500&continue=%s", r.host, root, k.Version, namespace, k.Resource, token))
			bytes += int64(len(body))
			page, err := manifest.ParsePage(body)
			if err != nil {
				t.Fatal(err)
			}
			if token = page.Continue; token == "" {
				break
			}
		}
	}
	return time.Since(began), bytes
}

func (r *Reader) get(t testing.TB, url string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := r.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v", url, resp.StatusCode, err)
	}
	return body
}
