package v1alpha1

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Function is one function of a class. Its pods are described by the short form, by podTemplate, or by
// both: then the short form is laid over the container of podTemplate that is named function.
//
// +kubebuilder:validation:XValidation:rule="has(self.image) || has(self.podTemplate)",message="a function needs an image or a podTemplate"
// +kubebuilder:validation:XValidation:rule="!has(self.scaling) || self.scaling.engine == 'none' || self.replicas >= 1",message="an autoscaler starts with at least one replica: set replicas, or scaling.engine to none"
// +kubebuilder:validation:XValidation:rule="!has(self.scaling) || self.scaling.engine == 'none' || self.replicas <= self.scaling.max",message="replicas must not exceed scaling.max"
type Function struct {
	// key names the function in its class; its Deployment, Service and label are named after it. Another key is another function.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Key string `json:"key"`
	// image is the container image of the function. Default that of podTemplate.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image,omitempty"`
	// command replaces the entrypoint of the image. Default that of podTemplate.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Command []string `json:"command,omitempty"`
	// args are the arguments of the entrypoint. Default those of podTemplate.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Args []string `json:"args,omitempty"`
	// env are environment variables; one replaces that of the same name in podTemplate. A value from a Secret is
	// named here and read by the node: the manager never sees it.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	Env []corev1.EnvVar `json:"env,omitempty"`
	// envFrom are ConfigMaps and Secrets whose keys become environment variables, behind those of podTemplate.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`
	// ports are those that the function listens on. With any the function has a Service, with the same
	// port numbers. Default those of podTemplate.
	// +optional
	// +listType=map
	// +listMapKey=containerPort
	// +listMapKey=protocol
	// +kubebuilder:validation:MaxItems=16
	Ports []corev1.ContainerPort `json:"ports,omitempty"`
	// resources of the function's container. Default those of podTemplate.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// readinessProbe says when a pod can serve: Serving and Ready mean no more than it. Default that of podTemplate.
	// +optional
	ReadinessProbe *corev1.Probe `json:"readinessProbe,omitempty"`
	// livenessProbe says when the container is to be restarted. Default that of podTemplate.
	// +optional
	LivenessProbe *corev1.Probe `json:"livenessProbe,omitempty"`
	// startupProbe says when the container has started. Default that of podTemplate.
	// +optional
	StartupProbe *corev1.Probe `json:"startupProbe,omitempty"`
	// podTemplate describes the whole pod: volumes, accounts, placement, sidecars. One of its containers must be
	// named function. Default a pod of one container.
	// +optional
	PodTemplate *corev1.PodTemplateSpec `json:"podTemplate,omitempty"`
	// replicas is how many pods run the function: 0 to 1000. Template dev runs no more than one. With scaling it
	// is how many it starts with. If another owner has scaled the Deployment, its number stands. Default 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Replicas *int32 `json:"replicas,omitempty"`
	// scaling lets an engine scale the function. Default none: replicas is the number.
	// +optional
	Scaling *Scaling `json:"scaling,omitempty"`
	// requirements are those of this function alone.
	// +optional
	Requirements *FunctionRequirements `json:"requirements,omitempty"`
	// strategy says how pods are replaced, as in a Deployment. Default that of a Deployment; template dev
	// stops the old pod before the new one starts.
	// +optional
	Strategy *appsv1.DeploymentStrategy `json:"strategy,omitempty"`
	// minReadySeconds is how long, in seconds, a new pod must be ready before it counts: 0 to 3600. Default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	MinReadySeconds int32 `json:"minReadySeconds,omitempty"`
}
