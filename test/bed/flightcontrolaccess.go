package bed

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

const (
	// flightControlNamespace is where Flight Control looks for the rights of its users: RoleBindings to a role of this name
	// make administrators.
	flightControlNamespace = "flightctl"
	flightControlAdmin     = "flightctl-admin"
	flightControlServer    = "flightctl-server" // the account of the server itself

	tokenSeconds = 24 * 60 * 60
)

var errNoCertificate = errors.New("no certificate in the file")

// makeAccount makes the account by which the server asks the API server who its users are.
func (f *FlightControlServer) makeAccount(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(f.bed.Config())
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: flightControlNamespace}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create namespace: %w", err)
	}
	for name, rules := range map[string][]rbacv1.PolicyRule{
		flightControlAdmin: nil, // its name is all that Flight Control looks at
		flightControlServer: {
			{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
			{APIGroups: []string{rbacv1.GroupName}, Resources: []string{"rolebindings"}, Verbs: []string{"get", "list"}},
		},
	} {
		role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
		if _, err := client.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create role: %w", err)
		}
	}
	_, err = client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: flightControlServer},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: flightControlServer},
		Subjects:   []rbacv1.Subject{account(flightControlServer)},
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("bind role: %w", err)
	}
	token, err := tokenOf(ctx, client, flightControlServer)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.path(), 0o700); err != nil {
		return fmt.Errorf("make directory of Flight Control: %w", err)
	}
	return os.WriteFile(f.path(serverToken), []byte(token), 0o600)
}

// Token is one of an account of that name, which is made an administrator of Flight Control.
func (f *FlightControlServer) Token(ctx context.Context, name string) (string, error) {
	client, err := kubernetes.NewForConfig(f.bed.Config())
	if err != nil {
		return "", fmt.Errorf("make client: %w", err)
	}
	_, err = client.RbacV1().RoleBindings(flightControlNamespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: flightControlAdmin},
		Subjects:   []rbacv1.Subject{account(name)},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("bind role: %w", err)
	}
	return tokenOf(ctx, client, name)
}

func account(name string) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: flightControlNamespace, Name: name}
}

// tokenOf makes an account, if there is none, and a token of it.
func tokenOf(ctx context.Context, client kubernetes.Interface, name string) (string, error) {
	accounts := client.CoreV1().ServiceAccounts(flightControlNamespace)
	_, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return "", fmt.Errorf("create account: %w", err)
	}
	wanted := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(tokenSeconds))}}
	made, err := accounts.CreateToken(ctx, name, wanted, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("create token: %w", err)
	}
	return made.Status.Token, nil
}

// Transport trusts the server. With a certificate it is that of an agent.
func (f *FlightControlServer) Transport(agent ...tls.Certificate) (*http.Transport, error) {
	ca, err := f.CA()
	if err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("trust Flight Control: %w", errNoCertificate)
	}
	return &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, Certificates: agent, MinVersion: tls.VersionTLS13}}, nil
}

func (f *FlightControlServer) client() (*http.Client, error) {
	transport, err := f.Transport()
	return &http.Client{Transport: transport, Timeout: startTimeout}, err
}

// answers says that the API answers, were it that it does not know who asks.
func (f *FlightControlServer) answers(ctx context.Context, client *http.Client) (bool, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL()+"/api/v1/devices", http.NoBody)
	if err != nil {
		return false, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return false, err
	}
	// Without a token it answers that the request is a bad one.
	return answer.StatusCode < http.StatusInternalServerError, answer.Body.Close()
}
