// Package registrar tells a kubelet of a CSI driver.
package registrar

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"google.golang.org/grpc"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// Registrar answers the kubelet's questions about one driver. A kubelet that was started anew asks again.
type Registrar struct {
	registration.UnimplementedRegistrationServer
	info   *registration.PluginInfo
	server *grpc.Server
	dir    *os.File

	mu      sync.Mutex
	heard   bool
	refused string
}

// ErrRefused says that the kubelet does not want the driver.
var ErrRefused = errors.New("kubelet refused the driver")

// Start puts a socket into the directory the kubelet watches, as seen from here; endpoint is the driver's socket as
// the kubelet sees it.
func Start(watched, driver, endpoint string) (*Registrar, error) {
	if err := os.MkdirAll(watched, 0o750); err != nil {
		return nil, fmt.Errorf("make directory of plugins: %w", err)
	}
	// The path of a socket is short by law of the kernel, and this directory lies deep below the bed's.
	dir, err := os.Open(watched)
	if err != nil {
		return nil, fmt.Errorf("open directory of plugins: %w", err)
	}
	listener, err := net.Listen("unix", filepath.Join("/proc/self/fd", fmt.Sprint(dir.Fd()), driver+"-reg.sock"))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen for the kubelet: %w", err), dir.Close())
	}
	r := &Registrar{
		info: &registration.PluginInfo{
			Type: registration.CSIPlugin, Name: driver, Endpoint: endpoint, SupportedVersions: []string{"1.0.0"},
		},
		server: grpc.NewServer(), dir: dir,
	}
	registration.RegisterRegistrationServer(r.server, r)
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

// Close takes the socket away, upon which the kubelet forgets the driver.
func (r *Registrar) Close() error {
	r.server.Stop()
	return r.dir.Close()
}

// Registered says whether the kubelet has accepted the driver, and ErrRefused if it has not.
func (r *Registrar) Registered() (bool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused != "" {
		return false, fmt.Errorf("%w: %s", ErrRefused, r.refused)
	}
	return r.heard, nil
}

// GetInfo answers the kubelet's first question.
func (r *Registrar) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return r.info, nil
}

// NotifyRegistrationStatus hears what the kubelet made of it.
func (r *Registrar) NotifyRegistrationStatus(_ context.Context, s *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.heard, r.refused = s.GetPluginRegistered(), s.GetError()
	return &registration.RegistrationStatusResponse{}, nil
}
