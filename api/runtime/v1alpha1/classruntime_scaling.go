package v1alpha1

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
)

// Scaling says how a function is scaled: within which limits, by what, and on which metrics.
//
// +kubebuilder:validation:XValidation:rule="!has(self.min) || self.min <= self.max",message="min must not exceed max"
type Scaling struct {
	// engine is what scales the function. hpa makes a HorizontalPodAutoscaler of the function's name; none makes nothing,
	// and leaves an autoscaler of another owner alone; auto is hpa. Template dev has none. Default auto.
	// +optional
	// +kubebuilder:default=auto
	Engine Engine `json:"engine,omitempty"`
	// min is the least number of pods: 1 to 1000. Default replicas.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Min *int32 `json:"min,omitempty"`
	// max is the greatest number of pods: 1 to 1000. If it does not exceed min there is nothing to scale, and no engine.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Max int32 `json:"max"`
	// metrics are those of a HorizontalPodAutoscaler. Default its own: 80 % of the CPU that the pods request.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Metrics []autoscalingv2.MetricSpec `json:"metrics,omitempty"`
	// behavior is that of a HorizontalPodAutoscaler: how fast it scales up and down.
	// +optional
	Behavior *autoscalingv2.HorizontalPodAutoscalerBehavior `json:"behavior,omitempty"`
}
