package v1alpha1

// TLS encrypts everything: clients, replication, and what servers tell each other.
type TLS struct {
	// secretName is a Secret with tls.crt, tls.key and ca.crt. The certificate must be for
	// NAME.NAMESPACE.svc: servers are found by address, so all show the same name. All of it
	// may be changed in one edit, to those of another authority, too.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SecretName string `json:"secretName"`
}

// Auth makes every client log on with a password.
type Auth struct {
	// secretName is a Secret with username and password of the application, which may use
	// all keys and everything but administration. To change the password, write the new one
	// in a line before the old one, and remove the old one when all clients have the new.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SecretName string `json:"secretName"`
	// rotation numbers the passwords of the operator's own users: with another number new
	// ones are made and brought to all servers. Default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Rotation int64 `json:"rotation,omitempty"`
}

// RotationAnnotation on the Secret with the passwords of the operator's own users bears the
// number that they were made for.
const RotationAnnotation = "valkey.statecraft.dev/rotation"

// Keys of the Secrets that a user brings.
const (
	UsernameKey    = "username"
	PasswordKey    = "password"
	AuthorityKey   = "ca.crt"
	CertificateKey = "tls.crt"
	PrivateKeyKey  = "tls.key"
)
