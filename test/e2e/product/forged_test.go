package product

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/config"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

const (
	forger        = "mallory"
	administrator = "the-administrator"
	lateCapture   = "late"
	// inForceAfter is more than API servers may need until they check who makes a request.
	inForceAfter = 12 * time.Second
)

// TestForgedRequestsAreNeverCarriedOut posts requests in the name of an administrator without a pause, from before the
// chart is installed until after it. The kinds are there already, as after an uninstallation; policies come after
// Deployments, and some requests before both. What is in the forger's own namespace says that it was accepted long ago.
func TestForgedRequestsAreNeverCarriedOut(t *testing.T) {
	s := newStage(t, config.Namespace)
	victim, own := bedtest.Namespace(t, s.bed), bedtest.Namespace(t, s.bed)
	s.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: victim, Name: "salaries"}})
	s.claim(victim)
	harness.Grant(t, s.client, forger, own, rbacv1.PolicyRule{APIGroups: []string{"*"}, Verbs: []string{"*"}, Resources: []string{"*"}})
	harness.Grant(t, s.client, forger, victim, rbacv1.PolicyRule{
		APIGroups: []string{"capture.statecraft.dev"}, Verbs: []string{"create", "get", "list"},
		Resources: []string{"volumecapturerequests", "volumerestorerequests", "manifestcapturerequests", "manifestrestorerequests"},
	})
	bedtest.InstallCRDs(t, s.bed, filepath.Join(harness.Root(t), "config", config.Kinds, "capture"))
	p := &poster{client: harness.ClientAs(t, s.bed, s.client, forger), victim: victim, own: own}
	p.start(t)
	harness.Eventually(t, within, poll, func() error { return p.hasStored(8) })
	took := s.install(release, first, "--take-ownership")
	<-time.After(inForceAfter)
	late := captureOf(victim, "payroll") // an honest one, for which forged restores have waited
	late.Name = lateCapture
	s.create(late)
	s.condition(victim, "vcr/"+lateCapture, "Ready")
	<-time.After(harness.ByLevel(15*time.Second, time.Minute))
	p.stop()
	harness.Row(t, "%d requests were stored of %d that were posted, %d with a forged status; managers ready after %.1f s",
		p.stored, p.posted, p.advanced, took.Seconds())
	if p.advanced == 0 {
		t.Error("no status was ever forged: nothing was tried")
	}
	s.noneCarriedOut(victim, own)
}

// claim makes a volume worth stealing.
func (s *stage) claim(namespace string) {
	s.Helper()
	harness.Apply(s, s.bed, fmt.Sprintf(`apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: payroll, namespace: %s}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: %s
  resources: {requests: {storage: 16Mi}}
`, namespace, bed.CSIClass))
	s.kubectl("wait", "-n", namespace, "--for=jsonpath={.status.phase}=Bound", "pvc/payroll", "--timeout=60s")
}

// poster posts forged requests, one kind after another.
type poster struct {
	client      client.Client
	victim, own string
	ending      context.CancelFunc
	done        sync.WaitGroup

	mu       sync.Mutex
	posted   int
	stored   int
	advanced int // whose status was forged, too
}

func (p *poster) start(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p.ending = cancel
	t.Cleanup(p.stop)
	p.done.Go(func() {
		for tick := time.Tick(harness.ByLevel(400*time.Millisecond, 100*time.Millisecond)); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick:
			}
			p.post(ctx)
		}
	})
}

func (p *poster) post(ctx context.Context) {
	forged := p.forge(p.posted)
	err := p.client.Create(ctx, forged)
	advanced := err == nil && p.advance(ctx, forged) == nil
	p.mu.Lock()
	defer p.mu.Unlock()
	p.posted++
	if err == nil {
		p.stored++
	}
	if advanced {
		p.advanced++
	}
}

// advance writes the status of a restore: it was accepted, and what is restored is known. The forger may in the namespace
// of her own, as long as no policy forbids it.
func (p *poster) advance(ctx context.Context, forged client.Object) error {
	status := `{"phase":"Preparing"}`
	switch forged.(type) {
	case *capturev1.VolumeRestoreRequest:
		status = fmt.Sprintf(`{"phase":"Restoring","source":{"driver":%q,"snapshotHandle":"theirs"}}`, bed.DriverName)
	case *capturev1.ManifestRestoreRequest:
		status = `{"phase":"Preparing","checkpointRef":{"apiVersion":"capture.statecraft.dev/v1alpha1","kind":"ManifestCheckpoint","name":"theirs","uid":"1"}}`
	}
	return p.client.Status().Patch(ctx, forged, client.RawPatch(types.MergePatchType, []byte(`{"status":`+status+`}`)))
}

// hasStored is nil once so many requests are stored.
func (p *poster) hasStored(least int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stored < least {
		return fmt.Errorf("%d requests are stored", p.stored)
	}
	return nil
}

func (p *poster) stop() {
	p.ending()
	p.done.Wait()
}

// forge makes the n-th request: each kind in turn. A restore waits for a capture that ends later.
func (p *poster) forge(n int) client.Object {
	admin := &meta.Requester{Username: administrator, Groups: []string{"system:masters"}}
	name := metav1.ObjectMeta{Namespace: p.victim, Name: fmt.Sprintf("forged-%d", n)}
	switch n % 4 {
	case 0:
		r := captureOf(p.victim, "payroll")
		r.ObjectMeta, r.Spec.Requester = name, admin
		return r
	case 1:
		r := &capturev1.ManifestCaptureRequest{ObjectMeta: name}
		r.Spec.Requester, r.Spec.Selector = admin, &capturev1.ManifestSelector{}
		return r
	case 2:
		r := &capturev1.VolumeRestoreRequest{ObjectMeta: name}
		r.Namespace, r.Spec.Requester = p.own, admin
		r.Spec.Source.VolumeCaptureRequest = &capturev1.RequestRef{Namespace: p.victim, Name: lateCapture}
		r.Spec.VolumeClaimTemplate.Name = fmt.Sprintf("stolen-%d", n)
		return r
	}
	r := &capturev1.ManifestRestoreRequest{ObjectMeta: name}
	r.Namespace, r.Spec.Requester = p.own, admin
	r.Spec.Source.ManifestCaptureRequest = &capturev1.RequestRef{Namespace: p.victim, Name: fmt.Sprintf("forged-%d", n-2)}
	return r
}

// noneCarriedOut looks for what requests would have made, and at how each of them ended, once all have.
func (s *stage) noneCarriedOut(victim, own string) {
	s.Helper()
	var requests []request
	harness.Eventually(s, within, time.Second, func() error {
		requests = append(s.requests(victim), s.requests(own)...)
		for _, r := range requests {
			if !r.permitted() && r.phase != "Failed" {
				return fmt.Errorf("this request is not refused: %+v", r)
			}
		}
		return nil
	})
	for _, query := range []string{"manifestcheckpoints", "pvc -n " + own, "configmap salaries --ignore-not-found -n " + own} {
		if out := s.kubectl(append([]string{"get", "-o", "name"}, strings.Fields(query)...)...); out != "" {
			s.Errorf("a forged request made %s", out)
		}
	}
	snapshots, forged := s.kubectl("get", "volumesnapshotcontents", "-o", "name"), 0
	for _, r := range requests {
		if !r.permitted() && strings.Contains(snapshots, r.uid) {
			s.Errorf("this request made a snapshot: %+v", r)
		}
		if r.requester == administrator {
			forged++
		}
	}
	if forged == 0 {
		s.Error("no request was ever stored in another name: nothing was tried")
	}
	harness.Row(s, "%d of them in the name of an administrator, and all refused", forged)
}

// request is what is left of one. Without a phase no manager has looked at it yet.
type request struct{ uid, kind, requester, phase string }

// permitted says that the policies have stamped a request as the forger's own, and that she may make it: she may capture a
// volume, and restore nothing.
func (r request) permitted() bool {
	return r.kind == "VolumeCaptureRequest" && r.requester != administrator
}

func (s *stage) requests(namespace string) (all []request) {
	s.Helper()
	out := s.kubectl("get", "vcr,vrr,mcr,mrr", "-n", namespace, "-o",
		`jsonpath={range .items[*]}{.metadata.uid}|{.kind}|{.spec.requester.username}|{.status.phase}{"\n"}{end}`)
	for line := range strings.Lines(out) {
		is := strings.Split(strings.TrimSpace(line), "|")
		all = append(all, request{uid: is[0], kind: is[1], requester: is[2], phase: is[3]})
	}
	return all
}
