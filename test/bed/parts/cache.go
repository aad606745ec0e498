package parts

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// CacheEnv names the environment variable that moves the cache.
const CacheEnv = "STATECRAFT_CACHE"

// modulePath is the first line of the go.mod that marks the root of the checkout.
const modulePath = "module github.com/statecraft-dev/statecraft\n"

// ErrNoCheckout says that the working directory is not inside a checkout of this repository.
var ErrNoCheckout = errors.New("not inside a checkout of statecraft")

// CacheDir is where built parts and images are kept.
func CacheDir() (string, error) {
	if dir := os.Getenv(CacheEnv); dir != "" {
		return filepath.Abs(dir)
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find cache directory (set %s): %w", CacheEnv, err)
	}
	return filepath.Join(base, "statecraft"), nil
}

// Checkout is the root of the checkout the working directory lies in. Sources are found from there and not by
// the path compiled into the binary, which -trimpath removes.
func Checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find working directory: %w", err)
	}
	for {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(content, []byte(modulePath)) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", ErrNoCheckout
		}
		dir = parent
	}
}

func shortHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:12]
}
