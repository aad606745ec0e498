package bed

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// Helm runs Helm as administrator and returns what it printed. What it keeps of its own is in the bed's directory.
func (b *Bed) Helm(ctx context.Context, args ...string) (string, error) {
	dir, err := parts.Dir(ctx, parts.Helm)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(dir, "helm"), args...)
	cmd.Env = append(b.Environment(), b.helmFolders()...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("helm %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String(), nil
}

// helmFolders keep Helm out of the home of whoever runs the test.
func (b *Bed) helmFolders() (env []string) {
	for _, name := range []string{"CACHE", "CONFIG", "DATA"} {
		env = append(env, "HELM_"+name+"_HOME="+filepath.Join(b.Dir(), "helm", strings.ToLower(name)))
	}
	return env
}
