package valkey

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/harness"
)

// rest is how long nothing may be written once a cluster runs.
var rest = harness.ByLevel(20*time.Second, time.Minute)

// commandsAtMost is how many commands a node and minute may be sent while nothing changes:
// by the operator, by the probe of its pod, and by this test.
const commandsAtMost = 1000

func TestCreateRunsAndThenRests(t *testing.T) {
	s := newStage(t)
	s.Manager.Start()
	namespace := bedtest.Namespace(t, s.Bed)
	since := time.Now()
	vkc := s.create(namespace)
	s.running(vkc)
	s.sound(vkc)
	row, err := s.Bed.Kubectl(t.Context(), "get", "vkc", "-n", namespace)
	if err != nil || !strings.Contains(row, "True") || !strings.Contains(row, "Running") || !strings.Contains(row, "16384/16384") {
		t.Errorf("kubectl get vkc: %v\n%s", err, row)
	}
	s.exec(namespace, name+"-0-0", "valkey-cli", "-c", "set", "colour", "blue")
	if got := strings.TrimSpace(s.exec(namespace, name+"-1-1", "valkey-cli", "-c", "get", "colour")); got != "blue" {
		t.Errorf("read %q, wrote blue", got)
	}

	// The reservation is given back by the first pass in Running.
	harness.Eventually(t, goneWithin, poll, func() error { return s.rests(vkc) })
	made, err := s.Bed.Writes(since, harness.User(area))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("writes of a creation: %v", bed.CountWrites(bed.WithoutElections(made)))
	settled, asked := time.Now(), s.commands(namespace, name+"-0-0")
	harness.Consistently(t, rest, time.Second, func() error { return s.quiet(settled) })
	aMinute := float64(s.commands(namespace, name+"-0-0")-asked) / time.Since(settled).Minutes()
	harness.Row(t, "at rest: no writes in %s, %.0f commands a node and minute, its probes included", rest, aMinute)
	if aMinute > commandsAtMost {
		t.Errorf("want at most %d commands", commandsAtMost)
	}
	s.empty(namespace, vkc)
}

// rests says nil when the manager has written nothing for a while, and does not say that it is about to do something:
// where one machine has most of the primaries it moves one a little later.
func (s *stage) rests(vkc *valkeyv1.ValkeyCluster) error {
	if err := s.quiet(time.Now().Add(-3 * time.Second)); err != nil {
		return err
	}
	if err := s.Client.Get(s.T.Context(), client.ObjectKeyFromObject(vkc), vkc); err != nil {
		return err
	}
	if ready := apimeta.FindStatusCondition(vkc.Status.Conditions, "Ready"); ready == nil || strings.Contains(ready.Message, "takes over") {
		return fmt.Errorf("ready: %v", ready)
	}
	return nil
}

// commands is how many commands a server was sent so far.
func (s *stage) commands(namespace, pod string) (sum int) {
	s.T.Helper()
	for _, calls := range regexp.MustCompile(`calls=(\d+)`).FindAllStringSubmatch(s.exec(namespace, pod, "valkey-cli", "info", "commandstats"), -1) {
		n, err := strconv.Atoi(calls[1])
		if err != nil {
			s.T.Fatal(err)
		}
		sum += n
	}
	return sum
}

// quiet says nil when the manager has written nothing since.
func (s *stage) quiet(since time.Time) error {
	writes, err := s.Bed.Writes(since, harness.User(area))
	if err != nil {
		return err
	}
	if diff := cmp.Diff(map[string]int{}, bed.CountWrites(bed.WithoutElections(writes))); diff != "" {
		return &written{diff}
	}
	return nil
}

type written struct{ diff string }

func (w *written) Error() string { return "writes at rest: " + w.diff }
