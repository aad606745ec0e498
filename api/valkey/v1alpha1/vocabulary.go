package v1alpha1

// Labels of everything that belongs to a cluster. Users' own labels never replace
// them: selectors rely on them.
const (
	// ClusterLabel bears the cluster's name.
	ClusterLabel = "valkey.statecraft.dev/cluster"
	// ShardLabel bears the index of the shard that a pod or StatefulSet belongs to.
	ShardLabel = "valkey.statecraft.dev/shard"
)

// FormedAnnotation on a cluster's ConfigMap says that the cluster once held all
// slots, so that data may have been written. Where it is set and every server is
// blank, that data is lost, and the cluster is not made anew in silence.
const FormedAnnotation = "valkey.statecraft.dev/formed"

// ReleasedAnnotation on a claim says that its server was removed for good, with the proof that nothing
// but copies was in it: the claim goes when its pod is gone.
const ReleasedAnnotation = "valkey.statecraft.dev/released"

// The ports of a server.
const (
	ClientPort = 6379
	BusPort    = 16379
)

// Slots is how many hash slots a cluster has.
const Slots = 16384

// Conditions of a ValkeyCluster besides Ready and Stalled.
const (
	// Available: every slot is served, whatever else is under way.
	Available = "Available"
	// Progressing: an operation is under way.
	Progressing = "Progressing"
	// Degraded: the cluster stands with fewer nodes than it should have.
	Degraded = "Degraded"
	// AccessApplied: all servers have the passwords and certificates of the Secrets.
	AccessApplied = "AccessApplied"
	// ConfigApplied: every server that answers has the settings of spec.config that can be
	// changed while it runs.
	ConfigApplied = "ConfigApplied"
	// RestartPending: the servers were started by an earlier version of the operator, which made other pods of
	// the same spec. The message says what their restart waits for.
	RestartPending = "RestartPending"
)

// What status.currentOperation says.
const (
	// OperationCreating: the cluster is being made.
	OperationCreating = "Creating"
	// OperationScaling: shards or replicas are being added or removed.
	OperationScaling = "Scaling"
	// OperationUpgrading: a ValkeyUpgrade works on the cluster.
	OperationUpgrading = "Upgrading"
)

// The strategies of an upgrade.
const (
	// Automatic hands a primary over as soon as it is safe.
	Automatic UpgradeStrategy = "Automatic"
	// Supervised waits until a person has approved each failover.
	Supervised UpgradeStrategy = "Supervised"
)

// ApproveAnnotation approves what waits under the token that it bears.
const ApproveAnnotation = "statecraft.dev/approve"

// Annotations by which a StatefulSet tells what it was last given, and by whom.
const (
	// TemplateAnnotation bears the name of its pod template: a hash, or RevisionPrefix and
	// the name of the ControllerRevision that it was taken from.
	TemplateAnnotation = "valkey.statecraft.dev/template"
	// UpgradeAnnotation bears the time at which the upgrade was made that asked for it, as
	// in RFC 3339, a space, and its UID.
	UpgradeAnnotation = "valkey.statecraft.dev/upgrade"
	// CaptureAnnotation bears, on a VolumeCaptureRequest, the UID of the upgrade that made it.
	CaptureAnnotation = "valkey.statecraft.dev/captured-before"
	// RevisionPrefix begins the name of a template that is taken from a ControllerRevision.
	RevisionPrefix = "revision:"
)
