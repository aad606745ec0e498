package leaks

import (
	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
)

// How the machines of the area mark what they make.
const (
	intentLabel      = restorer.IntentLabel
	detachedBy       = capturev1.DetachedByLabel
	originAnnotation = capturev1.OriginAnnotation
)

// How they name it: a prefix, and the UID of the request.
var (
	holderPrefix = volumecapture.HolderName("")
	intentPrefix = restorer.VolumeName("")
)
