package observe

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// prepare reads what the claim, and then the intent, is made from.
func (o Restorer) prepare(ctx context.Context, w *restorer.World, s scene) (err error) {
	if w.Moves {
		return nil
	}
	name := s.request.Spec.VolumeClaimTemplate.Spec.StorageClassName
	if s.claim != nil {
		name = s.claim.Spec.StorageClassName
	}
	if s.class, err = storageClass(ctx, o.Live, name); err != nil || s.class == nil {
		return err
	}
	waits := s.class.VolumeBindingMode != nil && *s.class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
	w.Class = restorer.Class{Name: s.class.Name, Immediate: !waits}
	if s.claim == nil {
		return nil
	}
	node := s.claim.Annotations[restorer.SelectedNode]
	if w.Claim.Consumer = waits && node == ""; w.Claim.Consumer {
		return nil
	}
	return o.draft(ctx, w, s, node)
}

func (o Restorer) draft(ctx context.Context, w *restorer.World, s scene, node string) error {
	sketch := restorer.Sketch{Request: s.request, Claim: s.claim, Class: s.class, Metadata: o.Metadata, FSType: o.FSType}
	var err error
	if sketch.Topology, err = o.topology(ctx, s.class, node); err != nil {
		return err
	}
	w.Intent.Draft, w.Intent.Flaw = o.drawn(sketch)
	return nil
}

// drawn is the intent, or why there can be none.
func (o Restorer) drawn(s restorer.Sketch) (*restorer.Intent, *restorer.Trouble) {
	draft, err := restorer.Draft(s)
	if s.Class.Provisioner != o.Driver {
		err = fmt.Errorf("StorageClass %s is of %s, but the capture is held by %s", s.Class.Name, s.Class.Provisioner, o.Driver)
	}
	if err != nil {
		return nil, &restorer.Trouble{Reason: capturev1.ReasonDriverError, Words: "The restorer cannot ask for the volume: " + err.Error() + "."}
	}
	return draft, nil
}

// topology is where the volume must be reachable: at the node that was selected, or where
// the class allows; otherwise the driver decides.
func (o Restorer) topology(ctx context.Context, class *storagev1.StorageClass, node string) ([]map[string]string, error) {
	if node == "" {
		return allowed(class), nil
	}
	var csi storagev1.CSINode
	switch err := o.Live.Get(ctx, read.Key{Name: node}, &csi); {
	case read.SaysGone(err, node):
		return nil, nil // the driver knows no places
	case err != nil:
		return nil, fmt.Errorf("read drivers of node %s: %w", node, err)
	}
	var keys []string
	for _, d := range csi.Spec.Drivers {
		if d.Name == o.Driver {
			keys = d.TopologyKeys
		}
	}
	if len(keys) == 0 {
		return nil, nil
	}
	var n corev1.Node
	if err := o.Live.Get(ctx, read.Key{Name: node}, &n); err != nil {
		return nil, fmt.Errorf("read node %s: %w", node, err)
	}
	place := map[string]string{}
	for _, key := range keys {
		value, has := n.Labels[key]
		if !has {
			return nil, fmt.Errorf("node %s has no label %s, which driver %s goes by", node, key, o.Driver)
		}
		place[key] = value
	}
	return []map[string]string{place}, nil
}

// allowed are the places that a class allows: every combination of the values of a term.
func allowed(class *storagev1.StorageClass) (places []map[string]string) {
	for _, term := range class.AllowedTopologies {
		of := []map[string]string{{}}
		for _, e := range term.MatchLabelExpressions {
			var more []map[string]string
			for _, place := range of {
				for _, value := range e.Values {
					one := map[string]string{e.Key: value}
					for k, v := range place {
						one[k] = v
					}
					more = append(more, one)
				}
			}
			of = more
		}
		if len(term.MatchLabelExpressions) > 0 {
			places = append(places, of...)
		}
	}
	return places
}
