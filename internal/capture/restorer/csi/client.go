package csi

import (
	"context"
	"fmt"
	"time"

	spec "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
)

// Client calls a driver over its socket.
type Client struct {
	// Name is what the driver calls itself.
	Name string

	conn       *grpc.ClientConn
	controller spec.ControllerClient
	within     time.Duration
	single     bool // the driver tells one writer on a node from several
	topology   bool // the driver says where a volume can be reached
}

// Dial connects to a driver and asks who it is and what it can do. Each later call has to
// be answered within the given time; the same call is made again, so a slow driver gets on.
func Dial(ctx context.Context, address string, within time.Duration) (*Client, error) {
	conn, err := grpc.NewClient("unix:"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", address, err)
	}
	c := &Client{conn: conn, controller: spec.NewControllerClient(conn), within: within}
	if err := c.ask(ctx); err != nil {
		_ = conn.Close() // the question has failed already
		return nil, err
	}
	return c, nil
}

// Close ends the connection.
func (c *Client) Close() error { return c.conn.Close() }

func (c *Client) ask(ctx context.Context) error {
	identity := spec.NewIdentityClient(c.conn)
	info, err := identity.GetPluginInfo(ctx, &spec.GetPluginInfoRequest{}, grpc.WaitForReady(true))
	if err != nil {
		return fmt.Errorf("ask the driver for its name: %w", err)
	}
	c.Name = info.GetName()
	plugin, err := identity.GetPluginCapabilities(ctx, &spec.GetPluginCapabilitiesRequest{})
	if err != nil {
		return fmt.Errorf("ask the driver what it is: %w", err)
	}
	for _, one := range plugin.GetCapabilities() {
		c.topology = c.topology || one.GetService().GetType() == spec.PluginCapability_Service_VOLUME_ACCESSIBILITY_CONSTRAINTS
	}
	can, err := c.controller.ControllerGetCapabilities(ctx, &spec.ControllerGetCapabilitiesRequest{})
	if err != nil {
		return fmt.Errorf("ask the driver what it can do: %w", err)
	}
	has := map[spec.ControllerServiceCapability_RPC_Type]bool{}
	for _, one := range can.GetCapabilities() {
		has[one.GetRpc().GetType()] = true
	}
	c.single = has[spec.ControllerServiceCapability_RPC_SINGLE_NODE_MULTI_WRITER]
	for _, needed := range []spec.ControllerServiceCapability_RPC_Type{
		spec.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME, spec.ControllerServiceCapability_RPC_CREATE_DELETE_SNAPSHOT,
	} {
		if !has[needed] {
			return fmt.Errorf("driver %s does not offer %s, which a restore needs", c.Name, needed)
		}
	}
	return nil
}

// Create implements Driver.
func (c *Client) Create(ctx context.Context, p restorer.Plan, secrets map[string]string) (Made, error) {
	ctx, cancel := context.WithTimeout(ctx, c.within)
	defer cancel()
	answer, err := c.controller.CreateVolume(ctx, c.request(p, secrets))
	if err != nil {
		return Made{}, fmt.Errorf("create volume %s: %w", p.Name, err)
	}
	v := answer.GetVolume()
	made := Made{
		Volume:   restorer.Volume{ID: v.GetVolumeId(), Capacity: v.GetCapacityBytes(), Context: v.GetVolumeContext()},
		Snapshot: v.GetContentSource().GetSnapshot().GetSnapshotId(),
	}
	for _, place := range v.GetAccessibleTopology() {
		made.Topology = append(made.Topology, place.GetSegments())
	}
	return made, nil
}

// Delete implements Driver.
func (c *Client) Delete(ctx context.Context, id string, secrets map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, c.within)
	defer cancel()
	if _, err := c.controller.DeleteVolume(ctx, &spec.DeleteVolumeRequest{VolumeId: id, Secrets: secrets}); err != nil {
		return fmt.Errorf("delete volume %s: %w", id, err)
	}
	return nil
}
