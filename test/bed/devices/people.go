package devices

import (
	"context"
	"fmt"
	"net/http"
)

// attempts is how often a person tries an edit that others come before: every report of a device is a change of it.
const attempts = 10

// Edit changes a device as a person does: metadata and spec as the server has them.
func (d *Device) Edit(ctx context.Context, change func(metadata, spec map[string]any)) error {
	for attempt := 1; ; attempt++ {
		var now struct {
			Metadata map[string]any `json:"metadata"`
			Spec     map[string]any `json:"spec"`
		}
		if _, err := d.admin.ask(ctx, http.MethodGet, "/devices/"+d.Name, nil, &now); err != nil {
			return err
		}
		if now.Spec == nil {
			now.Spec = object{}
		}
		change(now.Metadata, now.Spec)
		code, err := d.admin.ask(ctx, http.MethodPut, "/devices/"+d.Name, object{
			"apiVersion": version, "kind": "Device", "metadata": now.Metadata, "spec": now.Spec,
		}, nil)
		if err == nil || code != http.StatusConflict || attempt == attempts {
			return err
		}
	}
}

// Label gives the device labels, besides those that it was enrolled with. They decide which fleet it belongs to.
func (d *Device) Label(ctx context.Context, labels map[string]string) error {
	all := object{}
	for _, some := range []map[string]string{d.labels, labels} {
		for key, value := range some {
			all[key] = value
		}
	}
	return d.Edit(ctx, func(metadata, _ map[string]any) { metadata["labels"] = all })
}

// Delete removes the device from the server.
func (d *Device) Delete(ctx context.Context) error {
	_, err := d.admin.ask(ctx, http.MethodDelete, "/devices/"+d.Name, nil, nil)
	return err
}

// Fleet makes a fleet of the devices with a label. Its template, which is empty, replaces their specs.
func (e *Enroller) Fleet(ctx context.Context, name string, labels map[string]string) error {
	_, err := e.admin.ask(ctx, http.MethodPut, "/fleets/"+name, object{
		"apiVersion": version, "kind": "Fleet", "metadata": object{"name": name},
		"spec": object{"selector": object{"matchLabels": labels}, "template": object{"spec": object{}}},
	}, nil)
	if err != nil {
		return fmt.Errorf("make fleet %s: %w", name, err)
	}
	return nil
}
