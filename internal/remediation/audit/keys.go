package audit

import (
	"crypto/hmac"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Keys are those that hashes are made with, by their ids.
type Keys struct {
	byID map[string][]byte
	// signs is the id of the one that new records are made with.
	signs string
}

// keyLength is the least that a key has: as much as the hash.
const keyLength = 32

var errNoKey = errors.New("it has no key; add a line: an id, a space, and 32 random bytes as base64")

// ParseKeys reads a file of keys: an id and a key in base64 a line. The last signs new records; the others are for
// those that were made before.
func ParseKeys(text string) (Keys, error) {
	keys := Keys{byID: map[string][]byte{}}
	number := 0
	for line := range strings.Lines(text) {
		number++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		id, key, err := parseKey(fields) // an error must not quote the line: it holds the key
		if err != nil {
			return Keys{}, fmt.Errorf("line %d: %w", number, err)
		}
		if keys.byID[id] != nil {
			return Keys{}, fmt.Errorf("line %d: the id %q is there already; give the new key another", number, id)
		}
		keys.byID[id], keys.signs = key, id
	}
	if keys.signs == "" {
		return Keys{}, errNoKey
	}
	return keys, nil
}

func parseKey(fields []string) (id string, key []byte, err error) {
	if len(fields) != 2 {
		return "", nil, errors.New("write an id, a space and the key as base64")
	}
	key, err = base64.StdEncoding.DecodeString(fields[1])
	if err != nil {
		return "", nil, errors.New("the key is not base64")
	}
	if len(key) < keyLength {
		return "", nil, fmt.Errorf("the key has %d bytes; make one of at least %d", len(key), keyLength)
	}
	return fields[0], key, nil
}

// Last is the end of a chain: the number and the hash of its last record.
type Last struct {
	Seq  int64
	Hash string
}

// Next is the record that continues a chain.
func (k Keys) Next(chain string, after Last, key, body string) Record {
	r := Record{Chain: chain, Seq: after.Seq + 1, Key: key, KeyID: k.signs, Body: body, Prev: after.Hash}
	if after.Seq == 0 {
		r.Prev = First
	}
	r.Hash = r.sum(k.byID[k.signs])
	return r
}

// Check says what is wrong with a record by itself; "" is nothing.
func (k Keys) Check(r Record) Fault {
	key, known := k.byID[r.KeyID]
	switch {
	case !known:
		return UnknownKey
	case !hmac.Equal([]byte(r.Hash), []byte(r.sum(key))):
		return Altered
	}
	return ""
}
