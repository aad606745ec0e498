package devices

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Server is a Flight Control server.
type Server interface {
	URL() string
	AgentURL() string
	Token(ctx context.Context, name string) (string, error)
	Transport(agent ...tls.Certificate) (*http.Transport, error)
}

const (
	version       = "flightctl.io/v1beta1"
	administrator = "devices" // the account that approves devices
	signer        = "flightctl.io/enrollment"
	day           = 24 * 60 * 60

	signedEvery = 100 * time.Millisecond
	signedSoon  = time.Minute
)

// object is JSON that is written and not read.
type object = map[string]any

// Enroller makes devices of one server. All of them begin with the same certificate, which is good for enrolling alone.
type Enroller struct {
	server       Server
	admin, agent *asker
}

// NewEnroller asks for the certificate to enroll with.
func NewEnroller(ctx context.Context, server Server) (*Enroller, error) {
	token, err := server.Token(ctx, administrator)
	if err != nil {
		return nil, err
	}
	transport, err := server.Transport()
	if err != nil {
		return nil, err
	}
	e := &Enroller{server: server, admin: newAsker(server.URL(), token, transport)}
	who, err := newIdentity()
	if err != nil {
		return nil, err
	}
	name := "client-enrollment-" + who.name[:8]
	request, err := who.request(name)
	if err != nil {
		return nil, err
	}
	_, err = e.admin.ask(ctx, http.MethodPost, "/certificatesigningrequests", object{
		"apiVersion": version, "kind": "CertificateSigningRequest", "metadata": object{"name": name},
		"spec": object{"request": request, "signerName": signer, "usages": []string{"clientAuth", "CA:false"}, "expirationSeconds": day},
	}, nil)
	if err != nil {
		return nil, err
	}
	signed, err := e.signed(ctx, name)
	if err != nil {
		return nil, err
	}
	e.agent, err = e.agentOf(who, signed)
	return e, err
}

// signed waits for the certificate of a request.
func (e *Enroller) signed(ctx context.Context, name string) (signed []byte, err error) {
	var last error
	err = wait.PollUntilContextTimeout(ctx, signedEvery, signedSoon, true, func(ctx context.Context) (bool, error) {
		var made struct {
			Status struct {
				Certificate []byte `json:"certificate"`
			} `json:"status"`
		}
		_, last = e.admin.ask(ctx, http.MethodGet, "/certificatesigningrequests/"+name, nil, &made)
		signed = made.Status.Certificate
		return len(signed) > 0, nil
	})
	if err != nil {
		return nil, fmt.Errorf("wait for certificate %s: %w", name, errors.Join(err, last))
	}
	return signed, nil
}

// agentOf speaks to the server as an agent with a certificate.
func (e *Enroller) agentOf(who identity, signed []byte) (*asker, error) {
	certificate, err := who.certificate(signed)
	if err != nil {
		return nil, err
	}
	transport, err := e.server.Transport(certificate)
	if err != nil {
		return nil, err
	}
	return newAsker(e.server.AgentURL(), "", transport), nil
}

// Enroll makes a device with labels, which reports that it is there and runs nothing.
func (e *Enroller) Enroll(ctx context.Context, labels map[string]string) (*Device, error) {
	who, err := newIdentity()
	if err != nil {
		return nil, err
	}
	if labels == nil { // the server takes no null
		labels = map[string]string{}
	}
	request, err := who.request(who.name)
	if err != nil {
		return nil, err
	}
	_, err = e.agent.ask(ctx, http.MethodPost, "/enrollmentrequests", object{
		"apiVersion": version, "kind": "EnrollmentRequest", "metadata": object{"name": who.name},
		"spec": object{"csr": string(request), "labels": labels, "deviceStatus": Report{}.status()},
	}, nil)
	if err != nil {
		return nil, err
	}
	path := "/enrollmentrequests/" + who.name
	if _, err := e.admin.ask(ctx, http.MethodPut, path+"/approval", object{"approved": true, "labels": labels}, nil); err != nil {
		return nil, err
	}
	var approved struct {
		Status struct {
			Certificate string `json:"certificate"`
		} `json:"status"`
	}
	if _, err := e.agent.ask(ctx, http.MethodGet, path, nil, &approved); err != nil {
		return nil, err
	}
	agent, err := e.agentOf(who, []byte(approved.Status.Certificate))
	if err != nil {
		return nil, err
	}
	d := &Device{Name: who.name, agent: agent, admin: e.admin, labels: labels}
	return d, d.Report(ctx, Report{})
}
