package bed_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/statecraft-dev/statecraft/test/bed"
	"github.com/statecraft-dev/statecraft/test/bed/bedtest"
	"github.com/statecraft-dev/statecraft/test/bed/internal/process"
)

// asVictim makes this test binary start a bed and wait to be killed.
const asVictim = "STATECRAFT_BED_TEST_AS_VICTIM"

func TestMain(m *testing.M) {
	if os.Getenv(asVictim) != "" {
		beVictim()
	}
	bedtest.Main(m)
}

func beVictim() {
	b, err := bed.Start(context.Background(), bed.ControlPlane, bed.CSI)
	if err != nil {
		panic(err)
	}
	servers := map[string]process.Identity{}
	for name, pid := range b.PIDs() {
		if servers[name], err = process.Identify(pid); err != nil {
			panic(err)
		}
	}
	report, err := json.Marshal(struct {
		Dir     string
		Servers map[string]process.Identity
	}{b.Dir(), servers})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(report))
	select {}
}

func TestNothingSurvivesAKilledTest(t *testing.T) {
	victim := exec.CommandContext(t.Context(), os.Args[0])
	victim.Env = append(os.Environ(), asVictim+"=1")
	victim.Stderr = os.Stderr
	output, err := victim.StdoutPipe()
	must(t, err)
	must(t, victim.Start())
	var bed struct {
		Dir     string
		Servers map[string]process.Identity
	}
	must(t, json.NewDecoder(bufio.NewReader(output)).Decode(&bed))
	t.Cleanup(func() {
		for _, server := range bed.Servers {
			_ = server.Signal(unix.SIGKILL)
		}
		_ = os.RemoveAll(bed.Dir)
	})
	// The control plane's four, the driver, two sidecars and the controller of snapshots.
	if len(bed.Servers) != 8 {
		t.Errorf("%d servers, want 8", len(bed.Servers))
	}
	for name, server := range bed.Servers {
		if !server.Alive() {
			t.Errorf("%s was not running", name)
		}
	}
	must(t, victim.Process.Kill())
	_ = victim.Wait()
	for name, server := range bed.Servers {
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		if err := server.AwaitEnd(ctx); err != nil {
			t.Errorf("%s outlived the test: %v", name, err)
		}
		cancel()
	}
}
