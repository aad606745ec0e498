package v1alpha1

import corev1 "k8s.io/api/core/v1"

// Pods is what the pods of a cluster need where they run: to be found, to be admitted, and to get their images.
type Pods struct {
	// labels that pods bear besides those of the operator.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.startsWith('valkey.statecraft.dev/') || k.startsWith('app.kubernetes.io/') || k.startsWith('apps.kubernetes.io/') || k.startsWith('statefulset.kubernetes.io/') || k == 'controller-revision-hash')",message="labels by which the operator and Kubernetes find pods are not yours to set"
	Labels map[string]string `json:"labels,omitempty"`
	// annotations that pods bear besides those of the operator.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="!self.exists(k, k.startsWith('valkey.statecraft.dev/'))",message="annotations that begin with valkey.statecraft.dev/ are the operator's own"
	Annotations map[string]string `json:"annotations,omitempty"`
	// imagePullSecrets name Secrets of the namespace with which kubelets get the images.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// serviceAccountName is as whom pods run. They get no token of it. Default default.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}
