package leaks

import (
	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
)

// How the machines of the area name and mark what they make.
const (
	intentPrefix     = "restore-"
	intentLabel      = "capture.statecraft.dev/restorer"
	detachedBy       = capturev1.DetachedByLabel
	originAnnotation = capturev1.OriginAnnotation
)

var holderPrefix = volumecapture.HolderName("")
