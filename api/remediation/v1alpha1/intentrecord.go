package v1alpha1

// IntentRecord is where the audit database has the intent of an execution. It covers all records before it.
type IntentRecord struct {
	// seq is the number of the record in the chain of the cluster; without one the intent was not recorded.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Seq int64 `json:"seq,omitempty"`
	// hash of the record.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Hash string `json:"hash,omitempty"`
	// message says why the intent was not recorded.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}
