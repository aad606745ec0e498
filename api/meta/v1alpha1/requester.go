package v1alpha1

// Requester is who asked for something. Admission writes it over whatever was given, so it
// can be trusted later, when the request is carried out. The limits are far above what authenticators
// give: a user who exceeds them cannot make requests at all.
type Requester struct {
	// username of the user or ServiceAccount.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Username string `json:"username,omitempty"`
	// uid of the user, where the authenticator knows one.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	UID string `json:"uid,omitempty"`
	// groups of the user.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4096
	// +kubebuilder:validation:items:MaxLength=2048
	Groups []string `json:"groups,omitempty"`
	// extra is what else the authenticator knows of the user, for example the pod that a token is
	// bound to. Authorizers may look at it, so access reviews need it as well.
	// +optional
	// +kubebuilder:validation:MaxProperties=256
	Extra map[string]ExtraValue `json:"extra,omitempty"`
}

// ExtraValue lists the values of one key of a user's extra.
// +listType=atomic
// +kubebuilder:validation:MaxItems=1024
// +kubebuilder:validation:items:MaxLength=4096
type ExtraValue []string
