package product

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/config"
	phases "github.com/statecraft-dev/statecraft/internal/valkey/cluster"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
	"github.com/statecraft-dev/statecraft/test/harness/writer"
)

const newLeaderWithin = 20 * time.Second

// TestReleaseComesAndGoes upgrades the operator while it scales a cluster under load, removes it, and installs it again under
// another name; at level full with edits by hand and bad values in between, and under its own name, too. No server restarts,
// and no acknowledged write is lost.
func TestReleaseComesAndGoes(t *testing.T) {
	s := newStage(t, config.Namespace)
	s.install(release, first)
	inForce := time.Now().Add(inForceAfter)
	vkc := cluster(bedtest.Namespace(t, s.bed), "orders", func(*valkeyv1.ValkeyCluster) {})
	s.create(vkc)
	s.condition(vkc.Namespace, "vkc/orders", "Ready")
	w := writer.Start(t, s.address(vkc))
	w.Await(t, writer.Keys)
	<-time.After(time.Until(inForce))
	kept := s.captured(vkc.Namespace)
	servers := s.servers(vkc)

	s.upgradeWhileItScales(vkc)
	s.same(vkc, servers)

	servers = s.servers(vkc)
	if harness.Full() {
		s.takesEditsBack()
		s.takesBadValuesBack()
		s.switchesAnArea()
		s.stays(vkc, servers, kept)
	}

	goes := func() {
		s.helm("uninstall", release, "-n", s.system, "--wait")
		before := w.Count()
		w.Await(t, before+writer.Keys) // servers serve without a manager
		s.stays(vkc, servers, kept)
	}
	comes := func(how func()) {
		how()
		s.condition(vkc.Namespace, "vkc/orders", "Ready")
		s.stays(vkc, servers, kept)
	}
	if harness.Full() {
		goes()
		comes(s.installsAgain)
	}
	goes()
	s.refusesAnotherRelease()
	comes(func() { s.install("prod", second, "--take-ownership") })
	w.Check(t)
}

// upgradeWhileItScales upgrades the release once slots move, and lets them move so slowly that the new version has to go on with it.
// It returns when the cluster has its fourth shard.
func (s *stage) upgradeWhileItScales(vkc *valkeyv1.ValkeyCluster) {
	s.Helper()
	s.load(second)
	writer.Fill(s.T, s.address(vkc), slowKeys, slowBytes)
	s.patch(vkc, `{"spec":{"masters":4,"slotMigration":{"maxBytesPerSecond":"64Ki"}}}`)
	s.phase(vkc, phases.RebalancingSlots)
	old := s.managerImage("valkey")
	elections := []*election{s.watchLeader("valkey", vkc), s.watchLeader("capture", vkc)}
	s.install(release, second)
	if s.managerImage("valkey") == old {
		s.Fatal("both versions are the same image")
	}
	for _, e := range elections {
		to, gap := s.released(e)
		if to.err != nil || to.phase != phases.RebalancingSlots {
			s.Errorf("when %s was elected, the cluster was %s: %v", to.to, to.phase, to.err)
		}
		if gap > newLeaderWithin {
			s.Errorf("area %s: nobody led for %s", e.area, gap)
		}
		harness.Row(s, "upgraded while slots moved: area %s had at most %s between two signs of a leader", e.area, gap.Round(100*time.Millisecond))
	}
	s.patch(vkc, `{"spec":{"slotMigration":null}}`)
	s.condition(vkc.Namespace, "vkc/"+vkc.Name, "Ready")
	if err := s.client.Get(s.Context(), client.ObjectKeyFromObject(vkc), vkc); err != nil {
		s.Fatal(err)
	}
	if len(vkc.Status.Shards) != 4 {
		s.Errorf("%d shards", len(vkc.Status.Shards))
	}
}

// At 64 KiB a second, a quarter of so much data needs longer than an upgrade may take.
const slowKeys, slowBytes = 16 << 10, 4 << 10

func (s *stage) patch(vkc *valkeyv1.ValkeyCluster, patch string) {
	s.Helper()
	s.kubectl("patch", "vkc", vkc.Name, "-n", vkc.Namespace, "--type=merge", "-p", patch)
}

// captured makes a capture, and returns what is kept of it.
func (s *stage) captured(namespace string) string {
	s.Helper()
	s.claim(namespace)
	s.create(captureOf(namespace, "payroll"))
	s.condition(namespace, "vcr/payroll", "Ready")
	return s.kept()
}

// kept are all captures, what they made and what keeps that.
func (s *stage) kept() string {
	s.Helper()
	return s.kubectl("get", "vcr,objectkeepers,volumesnapshotcontents", "-A", "-o",
		`jsonpath={range .items[*]}{.kind} {.metadata.name} {.metadata.uid} {.status.phase}{"\n"}{end}`)
}

// stays checks that nothing has come of a time without managers: neither to servers, nor to captures.
func (s *stage) stays(vkc *valkeyv1.ValkeyCluster, servers map[string]server, kept string) {
	s.Helper()
	s.same(vkc, servers)
	if is := s.kept(); is != kept || strings.Count(is, "\n") < 3 {
		s.Errorf("kept is\n%swas\n%s", is, kept)
	}
}

// installsAgain installs a release as a person does who has uninstalled it: it owns what stayed.
func (s *stage) installsAgain() {
	s.Helper()
	s.helm(append([]string{"install", release, s.load(second).Chart, "-n", s.system}, values...)...)
	s.managersReady()
	owners := s.kubectl("get", "crd", "-o", `jsonpath={range .items[*]}{.metadata.name} {.metadata.annotations.meta\.helm\.sh/release-name}{"\n"}{end}`)
	for line := range strings.Lines(owners) {
		if name, owner, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasSuffix(name, ".statecraft.dev") && owner != release {
			s.Errorf("%s belongs to release %q", name, owner)
		}
	}
}

// refusesAnotherRelease tries to install under another name what the first release left behind.
func (s *stage) refusesAnotherRelease() {
	s.Helper()
	p := s.load(second)
	out, err := s.bed.Helm(s.Context(), "install", "prod", p.Chart, "-n", s.system)
	if err == nil {
		s.Fatalf("a second release was installed\n%s", out)
	}
	for _, words := range []string{"exists and cannot be imported into the current release", `current value is "` + release + `"`} {
		if !strings.Contains(err.Error(), words) {
			s.Errorf("%v\ndoes not say %q", err, words)
		}
	}
}

// server is what must not change of a server's pod.
type server struct {
	uid      string
	restarts int32
}

func (s *stage) servers(vkc *valkeyv1.ValkeyCluster) map[string]server {
	s.Helper()
	var pods corev1.PodList
	if err := s.client.List(s.Context(), &pods, client.InNamespace(vkc.Namespace), client.MatchingLabels{valkeyv1.ClusterLabel: vkc.Name}); err != nil {
		s.Fatal(err)
	}
	all := map[string]server{}
	for _, p := range pods.Items {
		all[p.Name] = server{uid: string(p.UID), restarts: p.Status.ContainerStatuses[0].RestartCount}
	}
	return all
}

// same checks that every server is still the one it was.
func (s *stage) same(vkc *valkeyv1.ValkeyCluster, before map[string]server) {
	s.Helper()
	now := s.servers(vkc)
	for name, was := range before {
		if now[name] != was {
			s.Errorf("server %s was %+v and is %+v", name, was, now[name])
		}
	}
}

func (s *stage) phase(vkc *valkeyv1.ValkeyCluster, phase meta.Phase) {
	s.Helper()
	harness.Eventually(s, within, poll, func() error {
		err := s.client.Get(s.Context(), client.ObjectKeyFromObject(vkc), vkc)
		if err == nil && vkc.Status.Phase != phase {
			return fmt.Errorf("it is %s", vkc.Status.Phase)
		}
		return err
	})
}

// address is where the first server of a cluster listens.
func (s *stage) address(vkc *valkeyv1.ValkeyCluster) string {
	s.Helper()
	ip := s.kubectl("get", "pod", "-n", vkc.Namespace, vkc.Name+"-0-0", "-o", "jsonpath={.status.podIP}")
	return fmt.Sprintf("%s:%d", ip, valkeyv1.ClientPort)
}
