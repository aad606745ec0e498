package ownership

import (
	"errors"
	"slices"

	"github.com/statecraft-dev/statecraft/internal/child"
)

// Request is one apply of one of our controllers.
type Request struct {
	By    Owner
	Share Share
}

// Requests are those of an answer, in the order in which they are sent.
func Requests(a Answer) []Request {
	spec := Request{Owner{Manager: child.Manager(SpecController), Applied: true}, a.Spec}
	lane := Request{Owner{Manager: child.Manager(LaneController), Applied: true}, a.Lane}
	if a.Spec.Act == Omit {
		return []Request{lane, spec}
	}
	return []Request{spec, lane}
}

// ErrConflict is what the API server answers to an apply without force of another number than that of an owner.
var ErrConflict = errors.New("conflict")

// Perform is what the API server should make of a request.
func (f Field) Perform(r Request) (Field, error) {
	f.Owners = slices.Clone(f.Owners)
	at := slices.Index(f.Owners, r.By)
	switch {
	case r.Share.Act == Omit && at < 0:
		return f, nil
	case r.Share.Act == Omit:
		f.Owners = slices.Delete(f.Owners, at, at+1)
		if len(f.Owners) == 0 {
			f.Live = 1 // the default
		}
		return f, nil
	case r.Share.Value != f.Live && r.Share.Act == Carry && (len(f.Owners) > 1 || len(f.Owners) == 1 && at < 0):
		return f, ErrConflict
	case r.Share.Value != f.Live:
		f.Live, f.Owners = r.Share.Value, []Owner{r.By}
	case at < 0:
		f.Owners = append(f.Owners, r.By)
	}
	return f, nil
}

// PerformAll is what it should make of an answer.
func (f Field) PerformAll(a Answer) (Field, error) {
	asked := f.Asks(a)
	for _, r := range Requests(a) {
		var err error
		if f, err = f.Perform(r); err != nil {
			return f, err
		}
	}
	f.Asked = asked
	return f, nil
}
