package v1alpha1

const (
	// EnabledLabel on a namespace, with the value true, lets actions run in it. To set it needs
	// the verb enable on kubernetesexecutions there.
	EnabledLabel = GroupName + "/enabled"
	// BegunAnnotation on an execution has its own UID as the value once an effect may have begun.
	// Only the manager writes it, and nothing can be created with it: neither a lost status nor a
	// restored backup replays an action.
	BegunAnnotation = GroupName + "/begun"
	// TokenAnnotation on a target names the execution that last wrote it, and whether that had
	// finished: <UID>/started or <UID>/done.
	TokenAnnotation = GroupName + "/last-action"
	// ExecutionLabel on a Job and its pods has the UID of the execution, and as an annotation its name.
	ExecutionLabel = GroupName + "/execution"
	// RequestLabel on an execution has the UID of the RemediationRequest of which it is a step, for people who list them;
	// spec.parent is what counts.
	RequestLabel = GroupName + "/request"
	// ActionLabel on a Job and its pods names the ActionDefinition.
	ActionLabel = GroupName + "/action"
	// PolicyLabel on a ConfigMap of the product's namespace, with the value true, makes it a part
	// of the policy pack.
	PolicyLabel = GroupName + "/policy"
	// ResultFinalizer keeps the pod of an action until the manager has saved what it reported.
	ResultFinalizer = GroupName + "/result"
	// AccountPrefix begins the names of the ServiceAccounts of actions, and of their roles.
	AccountPrefix = "statecraft-action-"
	// JobPrefix begins the names of the Jobs of actions.
	JobPrefix = "statecraft-x-"
	// ActionContainer is the only container in the pod of an action.
	ActionContainer = "action"
	// NodesNamespace is the only namespace whose executions may repair what has no namespace.
	NodesNamespace = "statecraft-actions"
	// VerbApprove on kubernetesexecutions lets a person approve them.
	VerbApprove = "approve"
)
