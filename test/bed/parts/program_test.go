package parts

import "testing"

func TestAProgramIsLinkedOncePerProcess(t *testing.T) {
	t.Setenv(CacheEnv, t.TempDir())
	const pkg = "./test/bed/images/pause"
	first, err := Program(t.Context(), pkg)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "") // nothing is built without a go command
	second, err := Program(t.Context(), pkg)
	if err != nil || second != first {
		t.Errorf("asked again: %q, %v, want %q", second, err, first)
	}
	if _, err := Program(t.Context(), "./test/bed/cmd/bed-node"); err == nil {
		t.Error("another program was built without a go command")
	}
}
