package bed

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// Files below the directory that Flight Control takes for its home.
const (
	serverToken  = "token"
	settingsDir  = ".flightctl"
	certificates = settingsDir + "/certs"
)

// path is that of a file below the home of Flight Control.
func (f *FlightControlServer) path(elements ...string) string {
	return f.bed.path(append([]string{"flightctl"}, elements...)...)
}

// environment is what the servers are told besides their configuration.
func (f *FlightControlServer) environment() []string {
	env := []string{"HOME=" + f.path(), parts.FlightctlToken + "=" + f.path(serverToken)}
	for name, d := range map[string]time.Duration{
		parts.FlightctlDisconnected: f.settings.Disconnected, parts.FlightctlLook: f.settings.Look,
	} {
		if d > 0 {
			env = append(env, name+"="+d.String())
		}
	}
	return env
}

// writeCertificates makes them by Flight Control's own script, and lays them out as its programs look for them.
func (f *FlightControlServer) writeCertificates(ctx context.Context) error {
	made := f.path("made")
	err := parts.Run(ctx, nil, "bash", f.bed.program(parts.FlightControl, "generate-certificates.sh"),
		"--cert-dir", made, "--api-san", "localhost", "--api-san", loopback)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.path(certificates), 0o700); err != nil {
		return fmt.Errorf("make directory of certificates: %w", err)
	}
	for _, pattern := range []string{"ca*", "flightctl-api/*"} {
		files, err := filepath.Glob(filepath.Join(made, pattern))
		if err != nil {
			return fmt.Errorf("list certificates: %w", err)
		}
		for _, file := range files {
			if err := os.Rename(file, f.path(certificates, filepath.Base(file))); err != nil {
				return fmt.Errorf("lay out certificates: %w", err)
			}
		}
	}
	return nil
}

// writeConfig writes what all three servers read. JSON is YAML, too.
func (f *FlightControlServer) writeConfig(context.Context) error {
	type object = map[string]any
	service := object{
		"address": f.address(f.apiPort), "agentEndpointAddress": f.address(f.agentPort),
		"baseUrl": f.URL(), "baseAgentEndpointUrl": f.AgentURL(), "altNames": []string{"localhost", loopback},
	}
	if f.settings.Requests > 0 {
		service["rateLimit"] = object{
			"enabled": true, "requests": f.settings.Requests, "window": "1m", "authRequests": 1000, "authWindow": "1h",
		}
	}
	config, err := json.Marshal(object{
		"service": service,
		"database": object{
			"type": "pgsql", "hostname": loopback, "port": f.databasePort, "name": "postgres",
			"user": databaseUser, "password": databasePassword, "migrationUser": databaseUser, "migrationPassword": databasePassword,
		},
		"kv":      object{"hostname": loopback, "port": f.valkeyPort, "password": valkeyPassword},
		"metrics": object{"enabled": false},
		"auth": object{
			"insecureSkipTlsVerify": true, // the API server of a bed has an authority of its own
			"k8s":                   object{"apiUrl": f.bed.layout.apiURL(), "rbacNs": flightControlNamespace, "providerType": "k8s"},
		},
	})
	if err != nil {
		return fmt.Errorf("encode configuration of Flight Control: %w", err)
	}
	if err := os.WriteFile(f.path(settingsDir, "config.yaml"), config, 0o600); err != nil {
		return fmt.Errorf("write configuration of Flight Control: %w", err)
	}
	return nil
}
