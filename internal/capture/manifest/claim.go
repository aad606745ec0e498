package manifest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
)

// Claim is what is known of a claim besides what is captured of it.
type Claim struct {
	UID    types.UID
	Volume string // that it has; "" if it has none yet
}

func (o object) claim() (c Claim, err error) {
	if err := as(value(o.meta, "uid"), &c.UID); err != nil {
		return c, fmt.Errorf("read uid: %w", err)
	}
	var spec struct {
		VolumeName string `json:"volumeName"`
	}
	if err := as(o.field("spec"), &spec); err != nil {
		return c, fmt.Errorf("read spec: %w", err)
	}
	c.Volume = spec.VolumeName
	return c, nil
}

// CapturedBy says that a capture has the data of the claim, and not of one that had its name before. A Detach deletes
// its claim: who makes it again, to be captured with the volume that was taken, has one without a volume.
func (c Claim) CapturedBy(v *capturev1.VolumeCaptureRequest) bool {
	from := v.Status.Origin
	if from == nil || c.UID == "" {
		return false
	}
	return from.ClaimUID == c.UID || v.Spec.Mode == capturev1.Detach && c.Volume == ""
}
