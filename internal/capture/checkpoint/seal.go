package checkpoint

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/types"
)

// sealed is how many bytes encryption adds: a nonce before and a tag after.
const sealed = 12 + 16

// wrapping is what a wrapped key is bound to, bound what a chunk is.
func wrapping(request types.UID, keyID string) []byte {
	return fmt.Appendf(nil, "key %s %s", request, keyID)
}
func bound(request types.UID, index int, keyID string) []byte {
	return fmt.Appendf(nil, "chunk %s %d %s", request, index, keyID)
}

func encrypt(key, plain, about []byte, random io.Reader) ([]byte, error) {
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(plain)+aead.Overhead())
	if _, err := io.ReadFull(random, nonce); err != nil {
		return nil, fmt.Errorf("make nonce: %w", err)
	}
	return aead.Seal(nonce, nonce, plain, about), nil
}

func decrypt(key, stored, about []byte) ([]byte, error) {
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	if len(stored) < aead.NonceSize() {
		return nil, io.ErrUnexpectedEOF
	}
	return aead.Open(nil, stored[:aead.NonceSize()], stored[aead.NonceSize():], about)
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
