package spec

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"

	valkeyv1 "github.com/statecraft-dev/statecraft/api/valkey/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/child"
)

// PodFields names what a spec asks of pods by the fields that reach their template, and not by the template: that is
// another as soon as another version of the operator builds it. A test compares the two field by field. A field that is added is
// left out while it is empty, so that specs that do not use it keep their names.
func PodFields(c *valkeyv1.ValkeyCluster) string {
	s := c.Spec
	fields := struct {
		Image                      string
		Grace                      int
		Config                     map[string]valkeyv1.ConfigValue `json:",omitempty"`
		Requests, Limits           corev1.ResourceList             `json:",omitempty"`
		Scheduling                 valkeyv1.Scheduling
		Volumes, AOF, RDB          bool
		MinReplicas, MaxLagSeconds int32
		TLS                        bool
		AuthSecret                 string
		Pods                       *valkeyv1.Pods `json:",omitempty"`
	}{
		Image: s.Image, Grace: grace(c), Config: map[string]valkeyv1.ConfigValue{}, Scheduling: s.Scheduling,
		Requests: s.Resources.Requests, Limits: s.Resources.Limits, TLS: s.TLS != nil,
	}
	for directive, value := range s.Config {
		if NeedsRestart(directive) {
			fields.Config[directive] = value
		}
	}
	if p := s.Persistence; p.Enabled {
		fields.Volumes, fields.AOF, fields.RDB = true, p.AOF == nil || *p.AOF, p.RDB
	}
	if r := s.Replication; r.MinReplicasToWrite > 0 {
		fields.MinReplicas, fields.MaxLagSeconds = r.MinReplicasToWrite, max(1, r.MaxLagSeconds)
	}
	if s.Auth != nil {
		fields.AuthSecret = s.Auth.SecretName
	}
	if !reflect.ValueOf(s.Pods).IsZero() {
		fields.Pods = &s.Pods
	}
	return child.Hash(fields)
}
