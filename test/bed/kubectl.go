package bed

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/statecraft-dev/statecraft/test/bed/parts"
)

// Kubectl runs kubectl as administrator and returns what it printed.
func (b *Bed) Kubectl(ctx context.Context, args ...string) (string, error) {
	args = append([]string{"--kubeconfig=" + b.Kubeconfig()}, args...)
	cmd := exec.CommandContext(ctx, b.program(parts.Kube, "kubectl"), args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(args[1:], " "), err, stderr.String())
	}
	return stdout.String(), nil
}

// Environment is that of a person who has this cluster to work with: kubectl is there and knows it.
func (b *Bed) Environment() []string {
	return append(os.Environ(), "KUBECONFIG="+b.Kubeconfig(), "PATH="+b.programs[parts.Kube]+string(os.PathListSeparator)+os.Getenv("PATH"))
}
