package observe

import (
	"fmt"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"k8s.io/utils/ptr"

	"github.com/statecraft-dev/statecraft/internal/capture/volumecapture"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
	"github.com/statecraft-dev/statecraft/internal/presence"
)

// defaultSnapshotClass marks the class that a driver's snapshots are of if nobody names one.
const defaultSnapshotClass = "snapshot.storage.kubernetes.io/is-default-class"

var contentKind = snapshotv1.SchemeGroupVersion.WithKind("VolumeSnapshotContent")

// content reads the content of the request.
func (c capture) content() error {
	key := read.Key{Name: volumecapture.ContentName(c.req.UID)}
	c.Watch.Look(contentKind, key)
	is := &snapshotv1.VolumeSnapshotContent{}
	sight, err := read.Find(c.ctx, c.Live, key, is, func(is *snapshotv1.VolumeSnapshotContent) bool {
		return c.owns(is) && is.Spec.VolumeSnapshotRef.UID == c.req.UID
	})
	if err != nil {
		// A kind that is not served, or not for us, is a fact; anything else may be read the next time.
		why := read.Blindness(err)
		if !why.Lasts() {
			return err
		}
		c.w.Content.Sight, c.w.Content.Why = sight, why
		return nil
	}
	if c.w.Content.Sight = sight; sight == presence.Here {
		c.w.Content = contentOf(is)
	}
	return nil
}

func contentOf(is *snapshotv1.VolumeSnapshotContent) volumecapture.Content {
	seen := volumecapture.Content{
		Sight: presence.Here, UID: is.UID, ResourceVersion: is.ResourceVersion,
		Deleting: is.DeletionTimestamp != nil, Origin: volumecapture.OriginOf(is),
	}
	if s := is.Status; s != nil {
		seen.Ready, seen.Handle, seen.Size = ptr.Deref(s.ReadyToUse, false), ptr.Deref(s.SnapshotHandle, ""), s.RestoreSize
		if s.Error != nil {
			seen.Error = ptr.Deref(s.Error.Message, "no reason is given")
		}
	}
	return seen
}

// class finds the class: the one that is named, or the driver's default, or its only one. One that was there a moment
// ago will do; that there is none must be true now.
func (c capture) class() error {
	if name := c.req.Spec.VolumeSnapshotClassName; name != "" {
		return c.namedClass(name)
	}
	if err := c.classOfDriver(read.FromWatchCache); err != nil || c.w.Class.Sight == volumecapture.ClassFound {
		return err
	}
	return c.classOfDriver()
}

func (c capture) classOfDriver(how ...read.ListOption) error {
	var classes snapshotv1.VolumeSnapshotClassList
	if err := c.Live.List(c.ctx, &classes, how...); err != nil {
		return c.unclassified(err)
	}
	var fits, preferred []*snapshotv1.VolumeSnapshotClass
	for i := range classes.Items {
		class := &classes.Items[i]
		if class.Driver != c.w.Volume.Driver {
			continue
		}
		fits = append(fits, class)
		if class.Annotations[defaultSnapshotClass] == "true" {
			preferred = append(preferred, class)
		}
	}
	if len(preferred) > 0 {
		fits = preferred
	}
	switch len(fits) {
	case 0:
		c.w.Class.Sight = volumecapture.ClassMissing
	case 1:
		c.chose(fits[0])
	default:
		c.w.Class.Sight = volumecapture.ClassAmbiguous
	}
	return nil
}

func (c capture) namedClass(name string) error {
	class := &snapshotv1.VolumeSnapshotClass{}
	err := c.Live.Get(c.ctx, read.Key{Name: name}, class)
	switch {
	case read.SaysGone(err, name):
		c.w.Class.Sight = volumecapture.ClassMissing
	case err != nil:
		return c.unclassified(err)
	case class.Driver != c.w.Volume.Driver:
		c.w.Class.Sight = volumecapture.ClassOfAnother
	default:
		c.chose(class)
	}
	return nil
}

func (c capture) chose(class *snapshotv1.VolumeSnapshotClass) {
	secret, sensible := volumecapture.SecretOf(class.Parameters, c.req.UID, c.req.Namespace)
	c.w.Class = volumecapture.Class{Sight: volumecapture.ClassFound, Name: class.Name, Secret: secret}
	if !sensible {
		c.w.Class.Sight = volumecapture.ClassNonsensical
	}
}

func (c capture) unclassified(err error) error {
	switch read.Blindness(err) {
	case presence.Unserved:
		c.w.Class.Sight = volumecapture.ClassUnserved
	case presence.Forbidden:
		c.w.Class.Sight = volumecapture.ClassUnreadable
	default:
		return fmt.Errorf("read snapshot classes: %w", err)
	}
	return nil
}
