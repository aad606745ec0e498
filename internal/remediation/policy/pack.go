package policy

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"slices"
	"strings"
)

// TestSuffix ends the names of modules that hold tests of the pack. They take no part in decisions.
const TestSuffix = "_test.rego"

// Module is one file of Rego.
type Module struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Pack is the Rego that decides, sorted by the names of its modules.
type Pack struct {
	Modules []Module `json:"modules"`
}

// NewPack makes a pack of texts by name.
func NewPack(texts map[string]string) Pack {
	p := Pack{Modules: make([]Module, 0, len(texts))}
	for name, text := range texts {
		p.Modules = append(p.Modules, Module{Name: name, Text: text})
	}
	slices.SortFunc(p.Modules, func(a, b Module) int { return cmp.Compare(a.Name, b.Name) })
	return p
}

// Deciding is the pack without its tests.
func (p Pack) Deciding() Pack {
	var deciding Pack
	for _, m := range p.Modules {
		if !strings.HasSuffix(m.Name, TestSuffix) {
			deciding.Modules = append(deciding.Modules, m)
		}
	}
	return deciding
}

// Digest names the content of the pack. Each name and text is preceded by its length, so that no
// two packs read alike.
func (p Pack) Digest() string {
	hash := sha256.New()
	for _, m := range p.Modules {
		for _, part := range []string{m.Name, m.Text} {
			var length [8]byte
			binary.BigEndian.PutUint64(length[:], uint64(len(part)))
			hash.Write(length[:])
			_, _ = io.WriteString(hash, part) // a hash takes everything
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}
