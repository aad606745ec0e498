package perform

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/statecraft-dev/statecraft/internal/remediation/action"
)

// TestRequestsOfADrain: pods are read page by page, and a pod is evicted as the very one that was read.
func TestRequestsOfADrain(t *testing.T) {
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		seen = append(seen, fmt.Sprintf("%s %s %s", r.Method, r.URL, body))
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Method == http.MethodPost:
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429}`)
		case r.URL.Query().Get("continue") == "":
			fmt.Fprint(w, `{"metadata":{"continue":"c1"},"items":[{"metadata":{"name":"a"}}]}`)
		default:
			fmt.Fprint(w, `{"metadata":{},"items":[{"metadata":{"name":"b"}}]}`)
		}
	}))
	defer s.Close()
	o, err := Connect(&rest.Config{Host: s.URL}, action.Target{APIVersion: "v1", Kind: "Node", Resource: "nodes", Name: "n1", UID: "u1"}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if pods, err := o.Pods(t.Context()); err != nil || len(pods) != 2 {
		t.Errorf("%v: %v", pods, err)
	}
	if err := o.Evict(t.Context(), action.Pod{Namespace: "shop", Name: "a", UID: "p1"}, new(int64(9))); answerOf(err) != busy {
		t.Errorf("a budget does not allow it: %v", err)
	}
	if diff := cmp.Diff([]string{
		"GET /api/v1/pods?continue=&fieldSelector=spec.nodeName%3Dn1&limit=250 ",
		"GET /api/v1/pods?continue=c1&fieldSelector=spec.nodeName%3Dn1&limit=250 ",
		`POST /api/v1/namespaces/shop/pods/a/eviction?timeout=900ms {"kind":"Eviction","apiVersion":"policy/v1","metadata":{"name":"a","namespace":"shop"},` +
			`"deleteOptions":{"gracePeriodSeconds":9,"preconditions":{"uid":"p1"}}}`,
	}, seen); diff != "" {
		t.Error(diff)
	}
}
