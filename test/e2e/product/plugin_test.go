package product

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/product"
)

// widest is how wide a screen may be.
const widest = 80

// runPlugin runs kubectl statecraft with a kubeconfig, and returns what it says and its exit code. No line is
// wider than a screen.
func runPlugin(t *testing.T, b *bed.Bed, kubeconfig string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), product.Build(t, b, "kubectl-statecraft"), append(args, "--kubeconfig="+kubeconfig)...)
	out, err := cmd.CombinedOutput()
	code := 0
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		code = failed.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	t.Logf("$ kubectl statecraft %s\n%s(exit code %d)", strings.Join(args, " "), out, code)
	for line := range strings.Lines(string(out)) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > widest {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	return string(out), code
}

// says checks that an answer has words and an exit code.
func says(t *testing.T, answer string, code, want int, words ...string) {
	t.Helper()
	if code != want {
		t.Errorf("exit code %d, not %d", code, want)
	}
	for _, w := range words {
		if !strings.Contains(strings.Join(strings.Fields(answer), " "), w) {
			t.Errorf("it does not say %q", w)
		}
	}
}
