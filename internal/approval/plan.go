// Package approval binds a person's consent to one plan of one object. A token names the plan
// by all that is in it, so an approval neither outlives its plan nor covers another one.
package approval

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/types"
)

// Plan is what a person is asked to approve.
type Plan struct {
	// UID is that of the object whose plan it is: one made anew under its name has others.
	UID types.UID
	// Generation of the object that the plan was made from; 0 if the digest covers all of its
	// spec that matters.
	Generation int64
	// Digest is that of everything that was shown, by Digest.
	Digest string
	// AskedBy is the user for whom it is carried out, whose own approval does not count; "" is
	// that anybody's does.
	AskedBy string
}

// version separates these tokens from other hashes, and from those of a later form.
const version = "statecraft.dev/approval/v1"

// Digest hashes parts with their lengths: parts that only read alike when written one after
// the other have different digests.
func Digest(parts ...string) string {
	h := sha256.New()
	for _, part := range append([]string{version}, parts...) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Token is what an approval of the plan quotes; "" if there is no plan to approve. It is not
// shortened: whoever can choose plans finds two with the same short token in no time.
func (p Plan) Token() string {
	if p.UID == "" || p.Digest == "" {
		return ""
	}
	generation := binary.BigEndian.AppendUint64(nil, uint64(p.Generation))
	return Digest("plan", string(p.UID), string(generation), p.Digest)
}

// Names says that a token is of this very plan. It takes the same time whatever the token is,
// so that a token which is kept secret cannot be guessed piece by piece.
func (p Plan) Names(token string) bool {
	is := p.Token()
	return is != "" && subtle.ConstantTimeCompare([]byte(is), []byte(token)) == 1
}
