package v1alpha1

// Labels of everything that belongs to a class. Selectors rely on them, so those of a user's
// own pod template never replace them.
const (
	// ClassLabel bears the name of the class.
	ClassLabel = "runtime.statecraft.dev/class"
	// FunctionLabel bears the key of the function.
	FunctionLabel = "runtime.statecraft.dev/function"
)

// Annotations on the Deployment of a function. What is decided once is kept there: another version, or a status that was
// lost, must not change what runs.
const (
	// TemplateAnnotation bears the template by which it was made.
	TemplateAnnotation = "runtime.statecraft.dev/template"
	// EngineAnnotation bears what scales it, if the spec asks for that.
	EngineAnnotation = "runtime.statecraft.dev/engine"
	// ReplicasAnnotation bears the replicas that the spec asked for when they were last applied.
	ReplicasAnnotation = "runtime.statecraft.dev/replicas"
)

// RetakeAnnotation on a class bears a time at which a person asked that the class sets again what others have set. It
// counts once: for what was overridden before that time.
const RetakeAnnotation = "statecraft.dev/retake"

// FunctionContainer is the name of the container that runs the function.
const FunctionContainer = "function"

// Conditions of a ClassRuntime besides Ready and Stalled.
const (
	// Available: every function has all replicas that the spec asks for, or lost no more of them than may be spared.
	Available = "Available"
	// Progressing: children are applied, or functions are awaited.
	Progressing = "Progressing"
	// Degraded: something is wrong that does not pass by waiting for a rollout.
	Degraded = "Degraded"
	// Serving: every function that wants a replica has a pod that is ready and not leaving,
	// whatever the phase: an update or a refused edit does not stop what runs.
	Serving = "Serving"
	// NfrObserved: it is known, by requirements and by samples that are not stale, how many replicas every function needs. It is
	// absent where nothing is to be observed.
	NfrObserved = "NfrObserved"
	// NfrEnforced: every function has the replicas that are recommended, within the limits of the spec. It is absent where
	// nothing is to be enforced.
	NfrEnforced = "NfrEnforced"
)

// Template says how the functions of a class are deployed.
// +kubebuilder:validation:Enum=auto;dev;k8s_deployment
type Template string

// The templates.
const (
	// TemplateAuto chooses; today that is always TemplateDeployment.
	TemplateAuto Template = "auto"
	// TemplateDev is for trying things out: one replica of each function, which is stopped before it is replaced.
	TemplateDev Template = "dev"
	// TemplateDeployment makes a Deployment and, where there are ports, a Service of each function.
	TemplateDeployment Template = "k8s_deployment"
)

// Engine says what scales a function.
// +kubebuilder:validation:Enum=auto;hpa;none
type Engine string

// The engines.
const (
	// EngineAuto chooses; today that is always EngineHPA.
	EngineAuto Engine = "auto"
	// EngineHPA makes a HorizontalPodAutoscaler.
	EngineHPA Engine = "hpa"
	// EngineNone leaves scaling to others.
	EngineNone Engine = "none"
)

// Mode says what is done with recommendations.
// +kubebuilder:validation:Enum=off;observe;enforce
type Mode string

// The modes.
const (
	// ModeOff computes no recommendation.
	ModeOff Mode = "off"
	// ModeObserve tells recommendations in the status.
	ModeObserve Mode = "observe"
	// ModeEnforce also sets the replicas of functions to them.
	ModeEnforce Mode = "enforce"
)

// Dimension is what of a function a recommendation is about.
// +kubebuilder:validation:Enum=replicas
type Dimension string

// DimensionReplicas is the number of replicas.
const DimensionReplicas Dimension = "replicas"

// Naming says what children are called.
// +kubebuilder:validation:Enum=Plain;Hashed
type Naming string

// The namings.
const (
	// NamingPlain is the name of the class and the key of the function, with a hash only where that would be too long.
	NamingPlain Naming = "Plain"
	// NamingHashed always has the hash, so that no two classes ever ask for one name.
	NamingHashed Naming = "Hashed"
)
