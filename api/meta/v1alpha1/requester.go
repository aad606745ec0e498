package v1alpha1

// Requester is who asked for something. Admission writes it over whatever was given, so it
// can be trusted later, when the request is carried out.
type Requester struct {
	// username of the user or ServiceAccount.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Username string `json:"username,omitempty"`
	// uid of the user, where the authenticator knows one.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	UID string `json:"uid,omitempty"`
	// groups of the user.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=512
	Groups []string `json:"groups,omitempty"`
	// extra is what else the authenticator knows of the user, for example the pod that a token is
	// bound to. Authorizers may look at it, so access reviews need it as well.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Extra map[string]ExtraValue `json:"extra,omitempty"`
}

// ExtraValue lists the values of one key of a user's extra.
// +listType=atomic
// +kubebuilder:validation:MaxItems=64
// +kubebuilder:validation:items:MaxLength=1024
type ExtraValue []string
