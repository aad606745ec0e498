package servers

import (
	"os/exec"
	"strings"
	"testing"
)

func TestEveryVersionRuns(t *testing.T) {
	for _, version := range Versions() {
		program, err := Program(t.Context(), version)
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), program, "--version").CombinedOutput()
		if err != nil || !strings.Contains(string(out), "v="+version+".") {
			t.Errorf("%s says %q, %v", program, out, err)
		}
	}
}
