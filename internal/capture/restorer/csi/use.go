package csi

import (
	"context"
	"errors"
	"fmt"

	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
)

// Restore makes the volume of a plan, and looks whether it is what was asked for: a driver
// that does not know the source makes an empty volume, and says that all is well. Such a
// volume is deleted again.
func Restore(ctx context.Context, d Driver, p restorer.Plan, secrets map[string]string) (restorer.Volume, error) {
	made, err := d.Create(ctx, p, secrets)
	if Refused(err) {
		return made.Volume, &restorer.Failure{Err: errors.New(Words(err))}
	} else if err != nil {
		return made.Volume, err
	}
	var wrong string
	switch {
	case made.ID == "":
		return made.Volume, errors.New("the driver answered without a volume")
	case made.Snapshot != p.Snapshot:
		wrong = "it made one that is not from the snapshot"
	case made.Capacity > 0 && made.Capacity < p.Bytes:
		wrong = fmt.Sprintf("it made one of %d bytes, and %d were asked for", made.Capacity, p.Bytes)
	default:
		return made.Volume, nil
	}
	if err := d.Delete(ctx, made.ID, secrets); err != nil {
		return made.Volume, err
	}
	return made.Volume, &restorer.Failure{Err: errors.New(wrong)}
}

// Discard deletes the volume of a plan, if there is one. Only the answer to Create tells how
// the driver calls it, so it is asked for once more.
func Discard(ctx context.Context, d Driver, p restorer.Plan, secrets map[string]string) error {
	made, err := d.Create(ctx, p, secrets)
	if NoSource(err) {
		// The snapshot went meanwhile, and the driver looked at that first. A volume of that
		// name may be there all the same; asked for without a source, it is answered.
		p.Snapshot = ""
		made, err = d.Create(ctx, p, secrets)
	}
	switch {
	case neverMade(err):
		return nil
	case err != nil:
		return err
	case made.ID == "":
		return errors.New("the driver answered without a volume")
	}
	return d.Delete(ctx, made.ID, secrets)
}
