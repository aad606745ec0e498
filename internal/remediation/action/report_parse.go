package action

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	remediationv1 "github.com/statecraft-dev/statecraft/api/remediation/v1alpha1"
)

var (
	hashForm   = regexp.MustCompile(`^([0-9a-f]{64})?$`)
	reasonForm = regexp.MustCompile(`^([a-z][a-z_]*)?$`)
)

// ParseReport reads what a pod said. Its author may be a program of a user, so anything but a report
// within its bounds is refused, and then other witnesses say what was done.
func ParseReport(message []byte) (Report, error) {
	r, err := decodeReport(message)
	if err == nil {
		err = r.check()
	}
	if err != nil {
		return Report{}, fmt.Errorf("read report: %w", err)
	}
	return r, nil
}

func decodeReport(message []byte) (r Report, err error) {
	if len(message) > MaxReport {
		return r, fmt.Errorf("%d bytes are more than %d", len(message), MaxReport)
	}
	d := json.NewDecoder(bytes.NewReader(message))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return r, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return r, errors.New("something follows it")
	}
	return r, nil
}

func (r Report) check() error {
	switch r.Effect {
	case remediationv1.EffectApplied, remediationv1.EffectNotApplied, remediationv1.EffectUnknown:
	default:
		return fmt.Errorf("%q is no effect of an action", cut(string(r.Effect), maxName))
	}
	switch {
	case r.Affected < 0:
		return errors.New("a negative number of objects is affected")
	case !hashForm.MatchString(r.After):
		return errors.New("the hash has another form")
	case !reasonForm.MatchString(r.Reason):
		return errors.New("the reason has another form")
	case !bytes.Equal(canonical(r), canonical(r.bounded())):
		return errors.New("a part of it is too long, or more objects are listed than are affected")
	}
	return nil
}
