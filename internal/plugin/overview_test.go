package plugin

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// apiServer serves two kinds: clusters, and upgrades, which may not be listed if they are denied.
func apiServer(t *testing.T, clusters string, denied bool) (kubeconfig string) {
	t.Helper()
	const group = "valkey.statecraft.dev"
	resource := func(name, kind string) string {
		return fmt.Sprintf(`{"name":%q,"kind":%q,"singularName":"","namespaced":true,"verbs":["get","list"]}`, name, kind)
	}
	answers := map[string]string{
		"/api":    `{"kind":"APIVersions","versions":["v1"]}`,
		"/api/v1": `{"kind":"APIResourceList","groupVersion":"v1","resources":[]}`,
		"/apis": `{"kind":"APIGroupList","groups":[{"name":"` + group + `","versions":[{"groupVersion":"` + group + `/v1alpha1","version":"v1alpha1"}],` +
			`"preferredVersion":{"groupVersion":"` + group + `/v1alpha1","version":"v1alpha1"}}]}`,
		"/apis/" + group + "/v1alpha1": `{"kind":"APIResourceList","groupVersion":"` + group + `/v1alpha1","resources":[` +
			resource("valkeyclusters", "ValkeyCluster") + "," + resource("valkeyupgrades", "ValkeyUpgrade") + `]}`,
		"/apis/" + group + "/v1alpha1/namespaces/shop/valkeyclusters": `{"kind":"ValkeyClusterList","apiVersion":"` + group + `/v1alpha1","items":[` + clusters + `]}`,
		"/apis/" + group + "/v1alpha1/namespaces/shop/valkeyupgrades": `{"kind":"ValkeyUpgradeList","apiVersion":"` + group + `/v1alpha1","items":[]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		text, served := answers[req.URL.Path]
		w.Header().Set("Content-Type", "application/json")
		switch {
		case !served || denied && strings.HasSuffix(req.URL.Path, "valkeyupgrades"):
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`)
		default:
			fmt.Fprint(w, text)
		}
	}))
	t.Cleanup(server.Close)
	kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c","cluster":{"server":%q}}],`+
		`"users":[{"name":"c","user":{}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"c","namespace":"shop"}}]}`, server.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

// What could not be listed is not counted as well, and an object that cannot be understood does not hide the others.
func TestStatusOfWhatCanBeSeen(t *testing.T) {
	const well = `{"apiVersion":"valkey.statecraft.dev/v1alpha1","kind":"ValkeyCluster","metadata":{"namespace":"shop","name":"well"},` +
		`"status":{"phase":"Running","since":"2026-05-17T08:00:00Z","conditions":[{"type":"Ready","status":"True","reason":"ClusterHealthy"}]}}`
	const broken = `{"apiVersion":"valkey.statecraft.dev/v1alpha1","kind":"ValkeyCluster","metadata":{"namespace":"shop","name":"broken"},"status":{"failures":"many"}}`
	for name, tc := range map[string]struct {
		clusters string
		denied   bool
		code     int
		words    []string
	}{
		"all is well":               {well, false, AsWished, []string{"1 of 1 objects are as wished."}},
		"there is nothing":          {"", false, AsWished, []string{"There are no objects of Statecraft."}},
		"a kind may not be listed":  {well, true, CouldNotLook, []string{"1 of 1 objects that could be listed are as wished; nothing can be said about ValkeyUpgrade.", "error: could not look at ValkeyUpgrade"}},
		"nothing else is there":     {"", true, CouldNotLook, []string{"Nothing can be said about ValkeyUpgrade; there are no other objects of Statecraft."}},
		"one cannot be understood":  {broken + "," + well, false, NotAsWished, []string{"broken Unknown", "well True Running", "1 of 2 objects are as wished."}},
		"nothing known of managers": {well, false, AsWished, []string{"You may not read Lease statecraft-system/statecraft-valkey"}},
	} {
		var out, problems strings.Builder
		args := []string{"status", "--kubeconfig", apiServer(t, tc.clusters, tc.denied), "--cache-dir", t.TempDir()}
		code := Run(t.Context(), args, &out, &problems)
		said := strings.Join(strings.Fields(out.String()+problems.String()), " ")
		for _, w := range tc.words {
			if !strings.Contains(said, w) {
				t.Errorf("%s: does not say %q", name, w)
			}
		}
		if code != tc.code {
			t.Errorf("%s: ends with %d", name, code)
		}
		if t.Failed() {
			t.Log(out.String(), problems.String())
		}
	}
}
