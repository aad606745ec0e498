package action

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// maxFootprint bounds the values of a footprint: they are saved in the status of an execution.
const maxFootprint = 16 << 10

// Path leads to a field of an object, name by name.
type Path []string

// escaped writes a name so that ParsePath reads it as one.
var escaped = strings.NewReplacer(`\`, `\\`, ".", `\.`)

// ParsePath reads names with dots between them. Within a name a dot and a backslash have a backslash
// before them.
func ParsePath(s string) Path {
	var out Path
	name := strings.Builder{}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			name.WriteByte(s[i])
		case s[i] == '.':
			out = append(out, name.String())
			name.Reset()
		default:
			name.WriteByte(s[i])
		}
	}
	return append(out, name.String())
}

// String is the path as ParsePath reads it.
func (p Path) String() string {
	names := make([]string, len(p))
	for i, name := range p {
		names[i] = escaped.Replace(name)
	}
	return strings.Join(names, ".")
}

// of is what the path leads to. A null is there; a field that is absent is not.
func (p Path) of(object map[string]any) (value any, is bool) {
	value = object
	for _, name := range p {
		fields, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		if value, is = fields[name]; !is {
			return nil, false
		}
	}
	return value, true
}

// Footprint is the state of the fields of an object that an action reads and writes. Nothing else
// of the object is in it: neither its status nor its metadata changes it.
type Footprint struct {
	// Hash names the state: sha256 in hex.
	Hash string
	// Values are those of the fields that are there, by path, as canonical JSON.
	Values map[string]apiextensionsv1.JSON
}

// Read reads the footprint of an object. One that is too large to be saved is refused.
func Read(object map[string]any, paths []Path) (Footprint, error) {
	if len(paths) > maxKeys {
		return Footprint{}, refuse("The action works on %d fields, and %d are the most.", len(paths), maxKeys)
	}
	f, h, size := Footprint{Values: map[string]apiextensionsv1.JSON{}}, sha256.New(), 0
	for _, p := range inOrder(paths) {
		value, is := p.of(object)
		var raw []byte
		if is {
			raw = canonical(value)
			f.Values[p.String()] = apiextensionsv1.JSON{Raw: raw}
		}
		write(h, []byte(p.String()))
		if h.Write([]byte{present(is)}); is {
			write(h, raw)
		}
		size += len(p.String()) + len(raw)
	}
	if size > maxFootprint {
		return Footprint{}, refuse("The fields that the action works on take %d bytes, and at most %d can be saved to take the action back.", size, maxFootprint)
	}
	f.Hash = hex.EncodeToString(h.Sum(nil))
	return f, nil
}

func inOrder(paths []Path) []Path {
	out := slices.SortedFunc(slices.Values(paths), func(a, b Path) int { return strings.Compare(a.String(), b.String()) })
	return slices.CompactFunc(out, func(a, b Path) bool { return a.String() == b.String() })
}

// write hashes a part with its length: parts that only read alike one after the other differ.
func write(h hash.Hash, part []byte) {
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
	h.Write(part)
}

func present(is bool) byte {
	if is {
		return 1
	}
	return 0
}

// canonical writes a JSON value in one way: keys in order, no spaces, nothing escaped for HTML.
func canonical(value any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		// Only what is no JSON cannot be written, and no API server sends it.
		return []byte("null")
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
