package parts

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
)

// moduleFiles are files of a released module that is not built.
type moduleFiles struct {
	module   string
	patterns []string
}

func (m moduleFiles) key() (string, error) { return fmt.Sprintln(m.module, m.patterns), nil }

func (m moduleFiles) build(ctx context.Context, version, out string) error {
	answer, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", m.module+"@"+version).Output()
	if err != nil {
		return fmt.Errorf("download %s: %w", m.module, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(answer, &module); err != nil {
		return fmt.Errorf("download %s: %w", m.module, err)
	}
	for _, pattern := range m.patterns {
		if err := copyMatching(module.Dir, pattern, out); err != nil {
			return err
		}
	}
	return nil
}
