package spec

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/valkey/access"
	nodeconfig "github.com/statecraft-dev/statecraft/internal/valkey/node/config"
)

// refuses reads from the schema which directives of spec.config are refused: those that
// begin with some letters, and others by name.
func refuses(t *testing.T) func(directive string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "crd", "valkey", "valkey.statecraft.dev_valkeyclusters.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(string(text)), " ")
	var prefixes, names []string
	for _, m := range regexp.MustCompile(`k\.startsWith\(''([a-z-]+)''\)`).FindAllStringSubmatch(flat, -1) {
		prefixes = append(prefixes, m[1])
	}
	for _, m := range regexp.MustCompile(`k in \[([^\]]*)\]`).FindAllStringSubmatch(flat, -1) {
		for _, name := range strings.Split(m[1], ",") {
			names = append(names, strings.Trim(name, "' "))
		}
	}
	if len(prefixes) < 5 || len(names) < 30 {
		t.Fatalf("the schema refuses only %v and %v", prefixes, names)
	}
	return func(directive string) bool {
		return slices.Contains(names, directive) || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(directive, p) })
	}
}

// everything is a cluster with all that there is to configure.
func everything() *valkeyv1.ValkeyCluster {
	c := newCluster()
	c.Spec.Persistence = valkeyv1.Persistence{Enabled: true, RDB: true}
	c.Spec.Replication = valkeyv1.Replication{MinReplicasToWrite: 1, MaxLagSeconds: 10}
	c.Spec.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
	c.Spec.TLS, c.Spec.Auth = &valkeyv1.TLS{SecretName: "web-tls"}, &valkeyv1.Auth{SecretName: "web-app"}
	return c
}

// What the operator sets it owns: a user who sets it otherwise is told so, and does not find
// out which of the two counts.
func TestOwnedSettingsAreRefused(t *testing.T) {
	text, err := nodeconfig.Render(Config(everything())+ConfigMap(everything()).Data[LiveFile], nodeconfig.Server{
		Version: "9.1.2", IP: "10.0.0.1", TLS: TLSPath, Users: "/data/users.acl", Primary: nodeconfig.Login{User: "r", Password: access.NewPassword("p")},
	})
	if err != nil {
		t.Fatal(err)
	}
	refused, owned := refuses(t), map[string]bool{}
	for line := range strings.Lines(text) {
		directive, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if directive == "" || directive == "#" {
			continue
		}
		owned[directive] = true
		if !refused(directive) {
			t.Errorf("%s is rendered, and not refused in spec.config", directive)
		}
	}
	if refused("maxmemory-policy") || refused("hz") {
		t.Error("what is the user's own is refused")
	}
	// Without one of these data is lost, or all shards stop for one: see the reasons beside them.
	for _, directive := range []string{"cluster-allow-replica-migration", "cluster-require-full-coverage", "cluster-node-timeout", "cluster-manual-failover-timeout",
		"shutdown-on-sigterm", "shutdown-timeout", "repl-diskless-sync-delay", "cluster-replica-no-failover", "replica-priority", "replica-read-only",
		"client-output-buffer-limit", "repl-backlog-size", "maxmemory", "cluster-announce-ip", "aclfile", "primaryauth", "tls-cluster", "tls-replication"} {
		if !owned[directive] {
			t.Errorf("%s is not set", directive)
		}
	}
	for _, directive := range []string{"cluster-blacklist-ttl", "include", "loadmodule", "rename-command", "requirepass", "user", "replicaof", "slave-priority"} {
		if !refused(directive) {
			t.Errorf("%s is not refused", directive)
		}
	}
}

// Whatever the spec says, a cluster owns objects of the same names: what is turned off is not
// left behind.
func TestChildrenDoNotComeAndGo(t *testing.T) {
	list := func(c *valkeyv1.ValkeyCluster) (all []string) {
		for _, child := range builder.Children(c, 3) {
			all = append(all, KindOf(child)+" "+child.GetName())
		}
		return all
	}
	if few, all := list(newCluster()), list(everything()); !slices.Equal(few, all) {
		t.Errorf("%v, and with everything %v", few, all)
	}
}

// What a cluster owns goes with it by garbage collection alone: nobody has to take anything
// off before.
func TestNothingHasAFinalizer(t *testing.T) {
	for _, child := range builder.Children(everything(), 3) {
		if owner := metav1.GetControllerOf(child); len(child.GetFinalizers()) > 0 || owner == nil || owner.UID != "c1" {
			t.Errorf("%s %s has finalizers %v and owner %v", KindOf(child), child.GetName(), child.GetFinalizers(), owner)
		}
	}
}

// Selectors select the pods of their own shard, whatever else pods bear.
func TestSelectorsSelectTheirPods(t *testing.T) {
	c := newCluster()
	for i := range 3 {
		s := builder.StatefulSet(c, i)
		for j := range 3 {
			pod := labels.Set(builder.StatefulSet(c, j).Spec.Template.Labels)
			if selected(t, s.Spec.Selector, pod) != (i == j) {
				t.Errorf("shard %d selects the pods of shard %d: %v", i, j, pod)
			}
			if !selected(t, DisruptionBudget(c).Spec.Selector, pod) || !labels.SelectorFromSet(NodesService(c).Spec.Selector).Matches(pod) {
				t.Errorf("the pods of shard %d are not those of the cluster: %v", j, pod)
			}
		}
	}
}

func selected(t *testing.T, by *metav1.LabelSelector, pod labels.Set) bool {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(by)
	if err != nil {
		t.Fatal(err)
	}
	return selector.Matches(pod)
}

// A majority of the primaries stays, however many there are: one pod goes at a time.
func TestADrainLeavesAMajority(t *testing.T) {
	for masters := int32(3); masters <= 250; masters++ {
		c := newCluster()
		c.Spec.Masters = masters
		if most := DisruptionBudget(c).Spec.MaxUnavailable.IntValue(); most != 1 || int(masters)-most <= int(masters)/2 {
			t.Fatalf("of %d primaries %d may go", masters, most)
		}
	}
}

// What an upgrade gave to a shard is drift, and no edit: the shard bears the stamp of the spec
// that did not ask for it, and the name of the template that it has.
func TestDriftIsNoEdit(t *testing.T) {
	c := newCluster()
	is, other := builder.StatefulSet(c, 0), builder.Upgraded(c, 0, Variant{Image: "valkey/valkey:9.1"})
	if is.Annotations[AppliedAnnotation] != other.Annotations[AppliedAnnotation] {
		t.Error("it looks as if the spec had been edited")
	}
	if is.Annotations[valkeyv1.TemplateAnnotation] == other.Annotations[valkeyv1.TemplateAnnotation] || is.Spec.Template.Spec.Containers[0].Image == other.Spec.Template.Spec.Containers[0].Image {
		t.Error("it has what it had before")
	}
	again := builder.TemplateName(c, Variant{Restart: "u1"})
	if again == builder.TemplateName(c, Variant{}) || again == builder.TemplateName(c, Variant{Restart: "u2"}) {
		t.Error("a restart makes nothing new")
	}
}
