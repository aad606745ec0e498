package csiproxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// reconnect is how soon a driver that comes back is found.
const reconnect = 200 * time.Millisecond

// Proxy is a socket that answers as the driver does, but for the faults it was told to make.
type Proxy struct {
	socket string
	driver *grpc.ClientConn
	faults *faults
	closed chan struct{}

	mu     sync.Mutex
	server *grpc.Server // nil while dead
}

// Start listens on a socket and passes calls on to the driver's. The driver need not be there yet.
func Start(socket, driver string) (*Proxy, error) {
	soon := backoff.Config{BaseDelay: reconnect, Multiplier: 1, MaxDelay: reconnect}
	conn, err := grpc.NewClient("unix://"+driver,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: soon, MinConnectTimeout: reconnect}),
		grpc.WithIdleTimeout(0),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(frames{})))
	if err != nil {
		return nil, fmt.Errorf("connect to driver: %w", err)
	}
	p := &Proxy{socket: socket, driver: conn, faults: newFaults(), closed: make(chan struct{})}
	if err := p.Alive(); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return p, nil
}

// Socket is the path callers connect to.
func (p *Proxy) Socket() string { return p.socket }

// Alive listens again after Dead.
func (p *Proxy) Alive() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil {
		return nil
	}
	// Of a process that was killed: nobody else listens here.
	if err := os.Remove(p.socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove old socket: %w", err)
	}
	listener, err := net.Listen("unix", p.socket)
	if err != nil {
		return fmt.Errorf("listen for calls of the driver: %w", err)
	}
	p.server = grpc.NewServer(grpc.ForceServerCodecV2(frames{}), grpc.UnknownServiceHandler(p.handle))
	go func(server *grpc.Server) { _ = server.Serve(listener) }(p.server)
	return nil
}

// Dead closes the socket and all connections. Calls under way are cut off from their callers; the driver may finish
// them.
func (p *Proxy) Dead() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil {
		p.server.Stop()
		p.server = nil
	}
}

// Close ends the proxy for good.
func (p *Proxy) Close() error {
	close(p.closed)
	p.Dead()
	p.Clear()
	return p.driver.Close()
}

func (p *Proxy) handle(_ any, stream grpc.ServerStream) error {
	method, ok := grpc.MethodFromServerStream(stream)
	if !ok {
		return status.Error(codes.Internal, "call without a method")
	}
	var request, reply frame
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	now := p.faults.next(path.Base(method))
	if err := p.wait(now); err != nil {
		return err
	}
	if now.code != codes.OK && !now.applied {
		return injected(method, now.code)
	}
	err := p.driver.Invoke(onward(stream.Context()), method, &request, &reply)
	switch {
	case now.code != codes.OK:
		return injected(method, now.code)
	case err != nil:
		return err // with the driver's own code
	}
	return stream.SendMsg(&reply)
}

// wait is not cut short by a caller that gives up: what was sent to a slow driver will be done.
func (p *Proxy) wait(now fault) error {
	if now.held != nil {
		select {
		case <-now.held:
		case <-p.closed:
			return status.Error(codes.Unavailable, "proxy closed")
		}
	}
	if now.delay > 0 {
		select {
		case <-time.After(now.delay):
		case <-p.closed:
			return status.Error(codes.Unavailable, "proxy closed")
		}
	}
	return nil
}

// onward is the context of a call to the driver, which does not end when the caller gives up.
func onward(ctx context.Context) context.Context {
	sent, _ := metadata.FromIncomingContext(ctx)
	return metadata.NewOutgoingContext(context.WithoutCancel(ctx), sent)
}

func injected(method string, code codes.Code) error {
	return status.Errorf(code, "%s: fault of the test", path.Base(method))
}
