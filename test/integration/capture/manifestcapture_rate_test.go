package capture

import (
	"runtime"
	"slices"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/act"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/bulk"
)

const blocks = 11 // of each way to read, in turns

// rateRig reads a namespace in two ways: as a capture does, and by plain LISTs.
type rateRig struct {
	*testing.T
	plain *bulk.Reader
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
	rig := &rateRig{T: t, plain: bulk.NewReader(t, b.Config()), c: c, ended: make(chan struct{}, 1)}
	work := &kube.Worker[manifestcapture.Result]{Wake: func(read.Key) { rig.ended <- struct{}{} }}
	go func() { _ = work.Start(t.Context()) }()
	rig.act = act.ManifestCapture{Work: work, Buffer: act.NewCaptureBuffer(true), Source: server}
	return rig
}

// capturing reads all objects as a capture does, and compresses them.
func (r *rateRig) capturing(request *capturev1.ManifestCaptureRequest) (took time.Duration, found *manifestcapture.Found) {
	var list capturev1.ManifestCaptureRequestList
	if err := r.c.List(r.Context(), &list, client.InNamespace(request.Namespace)); err != nil {
		r.Fatal(err)
	}
	key := client.ObjectKeyFromObject(request)
	defer r.act.Buffer.Drop(key)
	defer r.act.Work.Forget(key)
	began := time.Now()
	if _, err := r.act.Act(r.Context(), request, manifestcapture.StartReading{Moment: list.ResourceVersion}); err != nil {
		r.Fatal(err)
	}
	<-r.ended
	took = time.Since(began)
	work := r.act.Work.Work(key)
	if work.Err != nil {
		r.Fatal(work.Err)
	}
	return took, work.Result.Found
}

// rate is what reading a namespace costs in both ways, by medians of rounds in turns.
func (r *rateRig) rate(namespace string, objects int) (each, ratio, plain float64) {
	request := mcr(namespace, "rate", capturev1.ManifestCaptureRequestSpec{Selector: bulk.Selector()})
	request.UID = "00000000-0000-4000-8000-000000000000"
	var captures, plains []float64
	var bytes int64
	for i := range blocks {
		for _, first := range []bool{i%2 == 0, i%2 != 0} { // in turns
			var took time.Duration
			if first {
				took, bytes = r.plain.Read(r, namespace)
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
	bulk.Install(t, c)
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
		bulk.Populate(t, b.Config(), namespace, each)
		before := heap()
		perObject, ratio, _ := rig.rate(namespace, each*bulk.HowManyKinds)
		cost[each] = perObject
		t.Logf("%d objects: %.1f µs each, %.2f of plain LIST, heap %+.1f MiB", each*bulk.HowManyKinds, perObject*1e6, ratio, float64(heap()-before)/(1<<20))
		if each == many && ratio < 0.5 {
			t.Errorf("captures at %.2f of the rate of plain LISTs", ratio)
		}
	}
	if flat := cost[many] / cost[few]; flat > 1.5 {
		t.Errorf("an object costs %.2f times as much among ten times as many", flat)
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse) //nolint:gosec // far below
}
