package law

// Rule is one line of the law. Paths of our own packages are relative to the
// module; "..." stands for a package and everything below it, "*" for one segment.
type Rule struct {
	Name  string
	Binds func(*Tree, *Package) bool
	// Never lists what a bound package does not import, But what it may after all.
	Never, But []string
	// Deep looks through everything the package depends on, not only its own files.
	Deep bool
	// Except names the files of a bound package to which the rule does not apply.
	Except func(file string) bool
	// Calls lists what a bound package does not call: functions by package and
	// name, and chains of methods by their dots, as in .Status().Update.
	Calls []string
	// Names lists what no bound package is called.
	Names []string
	Why   string
}

// Areas are the folders of internal that never import one another.
var Areas = []string{"classruntime", "capture", "valkey", "remediation", "edge"}

// Outside are the packages directly below internal that reach beyond the process: the adapter,
// the plugin, the list of areas, scripts of tests, and this tool. All others there are pure.
var Outside = []string{"internal/kube", "internal/plugin", "internal/areas", "internal/script", "internal/law"}

var (
	clients = []string{"k8s.io/client-go/...", "sigs.k8s.io/controller-runtime/..."}
	manager = []string{
		"sigs.k8s.io/controller-runtime",
		"sigs.k8s.io/controller-runtime/pkg/builder/...",
		"sigs.k8s.io/controller-runtime/pkg/cache/...",
		"sigs.k8s.io/controller-runtime/pkg/cluster/...",
		"sigs.k8s.io/controller-runtime/pkg/controller/...",
		"sigs.k8s.io/controller-runtime/pkg/handler/...",
		"sigs.k8s.io/controller-runtime/pkg/manager/...",
		"sigs.k8s.io/controller-runtime/pkg/source/...",
		"sigs.k8s.io/controller-runtime/pkg/webhook/...",
	}
	outside = []string{"context", "net/...", "os/...", "io/ioutil", "testing/..."}
	logs    = []string{"log/...", "k8s.io/klog/...", "github.com/go-logr/...", "go.uber.org/zap/..."}
	chance  = []string{"math/rand/...", "crypto/rand"}
	clock   = []string{
		"time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc",
		"time.Tick", "time.NewTimer", "time.NewTicker", "metav1.Now",
	}
)

// inPodsOfUsers are the programs whose images are part of the pods that the product makes for its users.
var inPodsOfUsers = under("cmd/statecraft-valkey-node")

// oftenNew is what changes with most releases. A binary names the versions of the modules that it is made of.
var oftenNew = []string{"internal/version", "k8s.io/...", "sigs.k8s.io/..."}

const restarts = "its image is in the template of every pod, so what changes with a release would restart every server"

// Rules is the import law.
var Rules = []Rule{
	{
		Name: "pure", Binds: pure,
		Never: join(outside, logs, chance, clients), But: []string{"net/netip", "net/url"},
		Calls: clock,
		Why:   "a decision is a function of its input: no client, context, network, file, log, clock or chance",
	},
	{
		Name: "pure in depth", Binds: pure, Deep: true,
		Never: clients,
		Why:   "a machine must run where there is no cluster: in a drill, in a plan, in a test of seconds",
	},
	{
		Name: "observers read", Binds: under("internal/*/observe/...", "internal/*/explain/..."),
		Never: join(clients, []string{"internal/kube/...", "internal/*/act/..."}), But: []string{"internal/kube/read/..."},
		Why: "who looks is handed readers only, so that looking cannot change anything",
	},
	{
		Name: "areas apart", Binds: inArea,
		Never: areas("..."), But: []string{own},
		Why: "areas meet through objects and watches; to create another area's object its api is enough",
	},
	{
		Name: "manager", Binds: not(under("internal/kube", "cmd/...", "test/...", "hack/...")), Except: setup,
		Never: manager,
		Why:   "only kube and setup.go know the manager",
	},
	{
		Name: "status", Binds: not(under("internal/kube/...", "test/...")),
		Calls: []string{".Status().Update", ".Status().Patch", ".Status().Apply", ".Status().Create"},
		Why:   "only kube writes status, once a pass",
	},
	{
		Name: "readers", Binds: under("internal/kube/read/..."),
		Never: join(manager, []string{"internal/kube", "internal/kube/..."}), But: []string{"internal/kube/read/..."},
		Why: "whoever imports the readers must not get a writer with them",
	},
	{
		Name: "downwards", Binds: under("internal/fsm/...", "internal/kube/..."),
		Never: areas("..."),
		Why:   "the kernel and the adapter serve every area and know none",
	},
	{
		Name: "api", Binds: under("api/..."),
		Never: join([]string{"internal/...", "cmd/...", "test/..."}, clients),
		Why:   "types are vocabulary: whoever imports them gets no logic and no client",
	},
	{
		Name: "plugin", Binds: under("internal/plugin/...", "internal/explain/..."),
		Never: append(areas("..."), "internal/kube/..."), But: []string{"internal/*/explain/...", "internal/*/policy", "internal/*/policy/rego", "internal/*/audit/...", "internal/kube/read/..."},
		Why: "the plugin explains what the areas register, tries policies, and verifies audit records; it cannot act",
	},
	{
		Name: "no version", Binds: inPodsOfUsers,
		Never: oftenNew,
		Why:   restarts,
	},
	{
		Name: "no version in depth", Binds: inPodsOfUsers, Deep: true,
		Never: oftenNew,
		Why:   restarts,
	},
	{
		Name: "nouns", Binds: func(*Tree, *Package) bool { return true },
		Names: []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "base"},
		Why:   "a package that several need has a noun for a name",
	},
}
