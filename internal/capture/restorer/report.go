package restorer

import (
	"encoding/json"
	"errors"
	"strings"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/fsm"
)

// Failure is an error of the driver that is worth telling: it has said no. That it is slow,
// or out of reach, is not.
type Failure struct{ Err error }

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Answer is what the driver has made, as the outcome of an effect.
func (v Volume) Answer() (string, error) {
	text, err := json.Marshal(v)
	return string(text), err
}

// report remembers what the driver has answered, for as long as it is being asked.
func report(out *Restore, _ input, p fsm.Pass) {
	s := &out.Status
	if s.Phase != Provisioning {
		s.Volume, s.Trouble = nil, nil
		return
	}
	for _, o := range p.Outcomes {
		if _, asked := o.Effect.(CreateVolume); !asked {
			continue
		}
		if failure := (*Failure)(nil); errors.As(o.Err, &failure) {
			s.Trouble = &Trouble{capturev1.ReasonDriverError, "The CSI driver cannot make the volume: " + strings.TrimRight(failure.Error(), ". ") + "."}
		}
		if o.Err == nil {
			s.Volume, s.Trouble = &Volume{}, nil
			if json.Unmarshal([]byte(o.Ref), s.Volume) != nil {
				s.Volume = nil // it is asked again
			}
		}
	}
}
