package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// Requirements are what a function must be able to carry. How many replicas it needs follows from them and from what is measured.
type Requirements struct {
	// minThroughputRPS is how many requests a second a function must always be able to carry. Default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10000000
	MinThroughputRPS int32 `json:"minThroughputRPS,omitempty"`
	// maxLatencyMillis is how long, in milliseconds, requests may take: 1 to 3600000. Default any time.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600000
	MaxLatencyMillis int32 `json:"maxLatencyMillis,omitempty"`
	// latencyPercentile is the share of requests, in percent, that take no longer than maxLatencyMillis: 1 to 99. Default 95.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=99
	LatencyPercentile int32 `json:"latencyPercentile,omitempty"`
	// availabilityPercent is the share of time in which enough replicas must be there, such as "99.9". Default none.
	// +optional
	// +kubebuilder:validation:MaxLength=12
	// +kubebuilder:validation:Pattern=`^([1-9]|[1-9][0-9])(\.[0-9]+)?$`
	AvailabilityPercent string `json:"availabilityPercent,omitempty"`
	// capacity is what one replica carries. Default unknown.
	// +optional
	Capacity *Capacity `json:"capacity,omitempty"`
}

// FunctionRequirements are those that a function has of its own.
type FunctionRequirements struct {
	// capacity replaces that of the class.
	// +optional
	Capacity *Capacity `json:"capacity,omitempty"`
}

// Capacity is what one replica carries.
type Capacity struct {
	// rpsPerReplica is how many requests a second one replica carries, such as 50 or "0.5".
	RPSPerReplica resource.Quantity `json:"rpsPerReplica"`
}

// Telemetry says where it is measured how functions are used.
type Telemetry struct {
	// source is the name of one that the installation has configured.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Source string `json:"source"`
}

// Enforcement says what is done with the recommendations that follow from requirements and telemetry.
type Enforcement struct {
	// mode is off, which recommends nothing; observe, which tells in the status what functions need, and changes nothing; or enforce, which
	// sets their replicas to that. enforce needs requirements.capacity. Default observe where telemetry is set, else off.
	// +optional
	Mode Mode `json:"mode,omitempty"`
	// staleAfterSeconds is how old, in seconds, samples may be: 10 to 3600. Default 180.
	// +optional
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=3600
	StaleAfterSeconds int32 `json:"staleAfterSeconds,omitempty"`
	// up is how fast replicas are added. Default 30, 30, 100.
	// +optional
	Up *Pace `json:"up,omitempty"`
	// down is how fast replicas are taken away. Default 300, 120, 30.
	// +optional
	Down *Pace `json:"down,omitempty"`
	// maxReplicas is the most that a function is given, if its spec asks for no more: 1 to 1000. Default 20.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxReplicas int32 `json:"maxReplicas,omitempty"`
	// minConfidencePercent is how far a recommendation must be trusted to be followed: 1 to 100. Default 70.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MinConfidencePercent int32 `json:"minConfidencePercent,omitempty"`
}

// Pace is how fast replicas change in one direction.
type Pace struct {
	// stabilitySeconds is how long another number must be needed: 1 to 3600.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	StabilitySeconds int32 `json:"stabilitySeconds,omitempty"`
	// cooldownSeconds is how long a change waits after the last one: 1 to 3600.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	CooldownSeconds int32 `json:"cooldownSeconds,omitempty"`
	// maxStepPercent is by how much a change alters the number, if that is more than one replica: 1 to 1000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxStepPercent int32 `json:"maxStepPercent,omitempty"`
}
