package capture

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	restclient "k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const (
	kinds  = 20
	blocks = 11 // of each way to read, in turns
)

// rateKind is one of the kinds that are counted: half of them built in.
type rateKind struct {
	schema.GroupVersionResource
	kind string
	spec func(text string) map[string]any // fields besides metadata
}

func rateKinds() []rateKind {
	core, empty := "", map[string]any{}
	all := []rateKind{
		{schema.GroupVersionResource{Group: core, Version: "v1", Resource: "configmaps"}, "ConfigMap", func(text string) map[string]any { return map[string]any{"data": map[string]any{"text": text}} }},
		{schema.GroupVersionResource{Group: core, Version: "v1", Resource: "serviceaccounts"}, "ServiceAccount", func(string) map[string]any { return empty }},
		{schema.GroupVersionResource{Group: core, Version: "v1", Resource: "podtemplates"}, "PodTemplate", func(text string) map[string]any {
			return map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "a", "image": "a", "args": []any{text}}}}}}
		}},
		{schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"}, "NetworkPolicy", func(string) map[string]any {
			return map[string]any{"spec": map[string]any{"podSelector": map[string]any{"matchLabels": map[string]any{"a": "b"}}}}
		}},
		{schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"}, "Role", func(string) map[string]any {
			return map[string]any{"rules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{"pods"}, "verbs": []any{"list"}}}}
		}},
		{schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "cronjobs"}, "CronJob", func(text string) map[string]any {
			pod := map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "a", "image": "a", "args": []any{text}}}}
			return map[string]any{"spec": map[string]any{"suspend": true, "schedule": "0 0 1 1 *", "jobTemplate": map[string]any{"spec": map[string]any{"template": map[string]any{"spec": pod}}}}}
		}},
	}
	for i := len(all); i < kinds; i++ {
		all = append(all, rateKind{
			schema.GroupVersionResource{Group: "rate.example.com", Version: "v1", Resource: fmt.Sprintf("things%d", i)}, fmt.Sprintf("Thing%d", i),
			func(text string) map[string]any { return map[string]any{"spec": map[string]any{"text": text}} },
		})
	}
	return all
}

// rateCRDs installs the kinds that are not built in, and lets tenants read them.
func rateCRDs(t *testing.T, c client.Client) {
	t.Helper()
	keeps := true
	for _, k := range rateKinds() {
		if k.Group != "rate.example.com" {
			continue
		}
		create(t, c, &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: k.Resource + "." + k.Group},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: k.Group, Scope: apiextensionsv1.NamespaceScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: k.Resource, Kind: k.kind},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: "v1", Served: true, Storage: true,
					Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &keeps}},
				}},
			},
		})
	}
}

// prose is text that compresses as configuration does.
func prose(r *rand.Rand, words int) string {
	var b strings.Builder
	for range words {
		fmt.Fprintf(&b, "setting-%d=%d\n", r.IntN(500), r.IntN(1_000_000))
	}
	return b.String()
}

// populate makes so many objects of each kind.
func populate(t *testing.T, b *bed.Bed, namespace string, each int) {
	t.Helper()
	config := b.Config()
	config.QPS = -1
	admin, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(24)
	for i, k := range rateKinds() {
		for n := range each {
			g.Go(func() error {
				r := rand.New(rand.NewPCG(uint64(i), uint64(n)))
				obj := &unstructured.Unstructured{Object: k.spec(prose(r, 40))}
				obj.Object = mapWith(obj.Object)
				obj.SetGroupVersionKind(k.GroupVersion().WithKind(k.kind))
				obj.SetName(fmt.Sprintf("object-%d", n))
				_, err := admin.Resource(k.GroupVersionResource).Namespace(namespace).Create(ctx, obj, metav1.CreateOptions{})
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

func mapWith(fields map[string]any) map[string]any {
	all := map[string]any{"metadata": map[string]any{}}
	for k, v := range fields {
		all[k] = v
	}
	return all
}

// rateRig reads a namespace in two ways: as a capture does, and by plain LISTs.
type rateRig struct {
	*testing.T
	host  string
	http  *http.Client
	c     client.Client
	act   act.ManifestCapture
	ended chan struct{}
}

func newRateRig(t *testing.T, b *bed.Bed, c client.Client) *rateRig {
	t.Helper()
	server, err := act.NewServer(b.Config())
	if err != nil {
		t.Fatal(err)
	}
	config := b.Config()
	config.DisableCompression = true
	plain, err := restclient.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	rig := &rateRig{T: t, host: config.Host, http: plain, c: c, ended: make(chan struct{}, 1)}
	work := &kube.Worker{Wake: func(read.Key) { rig.ended <- struct{}{} }}
	go func() { _ = work.Start(t.Context()) }()
	rig.act = act.ManifestCapture{Work: work, Desk: act.NewDesk(true), Source: server}
	return rig
}

// plainly reads all objects page by page, as kubectl does, and throws them away.
func (r *rateRig) plainly(namespace string) (took time.Duration, bytes int64) {
	began := time.Now()
	for _, k := range rateKinds() {
		root := "/apis/" + k.Group
		if k.Group == "" {
			root = "/api"
		}
		for token := ""; ; {
			url := fmt.Sprintf("%s%s/%s/namespaces/%s/%s?limit=500&continue=%s", r.host, root, k.Version, namespace, k.Resource, token)
			body := r.get(url)
			bytes += int64(len(body))
			page, err := manifest.ParsePage(body)
			if err != nil {
				r.Fatal(err)
			}
			if token = page.Continue; token == "" {
				break
			}
		}
	}
	return time.Since(began), bytes
}

func (r *rateRig) get(url string) []byte {
	req, err := http.NewRequestWithContext(r.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		r.Fatal(err)
	}
	resp, err := r.http.Do(req)
	if err != nil {
		r.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		r.Fatalf("%s: %d %v", url, resp.StatusCode, err)
	}
	return body
}

// capturing reads all objects as a capture does, and compresses them.
func (r *rateRig) capturing(request *capturev1.ManifestCaptureRequest) (took time.Duration, found *manifestcapture.Found) {
	var list capturev1.ManifestCaptureRequestList
	if err := r.c.List(r.Context(), &list, client.InNamespace(request.Namespace)); err != nil {
		r.Fatal(err)
	}
	key := client.ObjectKeyFromObject(request)
	defer r.act.Desk.Drop(key)
	defer r.act.Work.Forget(key)
	began := time.Now()
	if _, err := r.act.Act(r.Context(), request, manifestcapture.StartReading{Moment: list.ResourceVersion}); err != nil {
		r.Fatal(err)
	}
	<-r.ended
	took = time.Since(began)
	if err := r.act.Work.Work(key).Err; err != nil {
		r.Fatal(err)
	}
	return took, r.act.Desk.Result(key).Found
}

// rate is what reading a namespace costs in both ways, by medians of rounds in turns.
func (r *rateRig) rate(namespace string, objects int) (each, ratio, plain float64) {
	request := mcr(namespace, "rate", capturev1.ManifestCaptureRequestSpec{Selector: &capturev1.ManifestSelector{}})
	for _, k := range rateKinds() {
		request.Spec.Selector.Resources = append(request.Spec.Selector.Resources, capturev1.ManifestResource{Group: k.Group, Resource: k.Resource})
	}
	request.UID = "00000000-0000-4000-8000-000000000000"
	var captures, plains []float64
	var bytes int64
	for i := range blocks {
		for _, first := range []bool{i%2 == 0, i%2 != 0} { // in turns
			var took time.Duration
			if first {
				took, bytes = r.plainly(namespace)
				plains = append(plains, took.Seconds())
				continue
			}
			var found *manifestcapture.Found
			if took, found = r.capturing(request); int(found.Expected) != objects {
				r.Fatalf("%d objects of %d: %+v", found.Expected, objects, found.Skipped)
			}
			captures = append(captures, took.Seconds())
		}
	}
	mc, mp := median(captures), median(plains)
	r.Logf("%d objects, %.1f MB: capture %.3f s, plain LIST %.3f s", objects, float64(bytes)/1e6, mc, mp)
	return mc / float64(objects), mp / mc, mp
}

func median(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// TestCapturingCostsLittleMoreThanReading holds a capture of many objects against plain LISTs
// of the same, and the cost of each object against that in a namespace of a tenth.
func TestCapturingCostsLittleMoreThanReading(t *testing.T) {
	b := bedtest.ControlPlane(t)
	harness.Install(t, b, area)
	c := newClient(t, b)
	rateCRDs(t, c)
	rig := newRateRig(t, b, c)
	few, many := harness.ByLevel(10, 50), harness.ByLevel(100, 500)
	cost := map[int]float64{}
	for _, each := range []int{few, many} {
		namespace := bedtest.Namespace(t, b)
		create(t, c, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "all"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: act.Account}},
		})
		harness.Eventually(t, soon, poll, func() error { return tryPopulate(t, b, namespace) })
		populate(t, b, namespace, each)
		before := heap()
		perObject, ratio, _ := rig.rate(namespace, each*kinds)
		cost[each] = perObject
		t.Logf("%d objects: %.1f µs each, %.2f of plain LIST, heap %+.1f MiB", each*kinds, perObject*1e6, ratio, float64(heap()-before)/(1<<20))
		if each == many && ratio < 0.5 {
			t.Errorf("captures at %.2f of the rate of plain LISTs", ratio)
		}
	}
	if flat := cost[many] / cost[few]; flat > 1.5 {
		t.Errorf("an object costs %.2f times as much among ten times as many", flat)
	}
}

// tryPopulate says nil once all kinds are served.
func tryPopulate(t *testing.T, b *bed.Bed, namespace string) error {
	admin, err := dynamic.NewForConfig(b.Config())
	if err != nil {
		return err
	}
	k := rateKinds()[kinds-1]
	_, err = admin.Resource(k.GroupVersionResource).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
	return err
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse) //nolint:gosec // far below
}
