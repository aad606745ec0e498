package capture

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	codec "github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/test/sim"
)

func (s *captureStory) begin(ctx context.Context) error {
	objects := []client.Object{}
	for _, name := range []string{"first", "second"} {
		cm := configMap(s.world, name)
		cm.Labels, cm.Data = storyLabel, map[string]string{"is": name}
		objects = append(objects, cm)
	}
	if s.secrets {
		objects = append(objects, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.world.Namespace, Name: "third", Labels: storyLabel},
			Data:       map[string][]byte{"password": []byte("canary")},
		})
	}
	for _, obj := range append(objects, s.request) {
		if err := s.world.Client.Create(ctx, obj); err != nil {
			return err
		}
	}
	if s.squatted {
		return s.world.Client.Create(ctx, &capturev1.ManifestCheckpoint{
			ObjectMeta: metav1.ObjectMeta{Name: codec.Name(s.request.UID)},
			Spec:       capturev1.ManifestCheckpointSpec{Origin: capturev1.Origin{Namespace: "elsewhere", NamespaceUID: "other"}, ResourceVersion: "1"},
		})
	}
	return nil
}

// robs deletes a chunk as soon as the checkpoint lists it.
func (s *captureStory) robs(ctx context.Context) (changed bool, next time.Time, err error) {
	point := &capturev1.ManifestCheckpoint{ObjectMeta: metav1.ObjectMeta{Name: codec.Name(s.request.UID)}}
	if s.rob || s.request.UID == "" || !s.world.Find(point) {
		return false, time.Time{}, nil
	}
	s.rob = true
	chunk := &capturev1.ManifestCheckpointContentChunk{ObjectMeta: metav1.ObjectMeta{Name: point.Spec.Chunks[0].Name}}
	return true, time.Time{}, s.world.Client.Delete(ctx, chunk)
}

// now is the request as it was last written, and why it ended, if it has.
func (s *captureStory) now() (*capturev1.ManifestCaptureRequest, string) {
	r := s.request.DeepCopy()
	if !s.world.Find(r) {
		return r, ""
	}
	if ready := apimeta.FindStatusCondition(r.Status.Conditions, fsm.Ready); ready != nil {
		return r, ready.Reason
	}
	return r, ""
}

func (s *captureStory) ended() error {
	if r, reason := s.now(); reason != string(s.ends) {
		return fmt.Errorf("the capture is %s %s: %s", r.Status.Phase, reason, r.Status.WaitingFor)
	}
	if s.secrets && s.made > 1 {
		return errors.New("chunks were written twice, which is another end")
	}
	if r, _ := s.now(); s.robbed && forgot(r) {
		return errors.New("what was captured stays, which is another end")
	}
	return nil
}

// always: a checkpoint is written last, so whatever it lists is there; and what it lists stays.
func (s *captureStory) always(change sim.Change) error {
	switch change.GroupVersionKind {
	case chunkKind:
		if change.Is != nil && change.Was == nil {
			s.made++
		}
	case checkpointKind:
		if s.squatted {
			return errors.New("somebody else's checkpoint was touched")
		}
	default:
		return nil
	}
	point := &capturev1.ManifestCheckpoint{ObjectMeta: metav1.ObjectMeta{Name: codec.Name(s.request.UID)}}
	if s.squatted || s.rob || !s.world.Find(point) {
		return nil
	}
	for _, ref := range point.Spec.Chunks {
		if !s.world.Find(&capturev1.ManifestCheckpointContentChunk{ObjectMeta: metav1.ObjectMeta{Name: ref.Name}}) {
			return fmt.Errorf("the checkpoint lists %s, which is not there", ref.Name)
		}
	}
	return nil
}

// end: what was asked for is captured, and nothing else is left.
func (s *captureStory) end(found []*unstructured.Unstructured) error {
	r, reason := s.now()
	if reason != string(s.ends) {
		return fmt.Errorf("the capture ended %s, not %s: %+v", reason, s.ends, r.Status.Failure)
	}
	if r.Status.CompletionTimestamp == nil {
		return errors.New("nobody noted when it ended")
	}
	return s.kept(r, found)
}

// counted: all objects are captured, or none.
func (s *captureStory) counted(r *capturev1.ManifestCaptureRequest, point *capturev1.ManifestCheckpoint) error {
	there, want := s.world.Find(point), int32(2)
	if s.secrets {
		want = 3
	}
	if s.ends != capturev1.ReasonCompleted {
		if there && !s.squatted {
			return errors.New("a capture that failed has left a checkpoint")
		}
		return nil
	}
	if !there || r.Status.Captured != want || r.Status.Expected != want || point.Spec.Objects != want {
		return fmt.Errorf("%d objects were captured of %d, want %d", r.Status.Captured, r.Status.Expected, want)
	}
	return nil
}

// kept: chunks that exist are those that the checkpoint lists.
func (s *captureStory) kept(r *capturev1.ManifestCaptureRequest, found []*unstructured.Unstructured) error {
	point := &capturev1.ManifestCheckpoint{ObjectMeta: metav1.ObjectMeta{Name: codec.Name(r.UID)}}
	if err := s.counted(r, point); err != nil {
		return err
	}
	listed := map[string]bool{}
	for _, ref := range point.Spec.Chunks {
		listed[ref.Name] = true
	}
	for _, obj := range found {
		if obj.GroupVersionKind() == chunkKind && !listed[obj.GetName()] {
			return fmt.Errorf("%s is left, and no checkpoint lists it", obj.GetName())
		}
		delete(listed, obj.GetName())
	}
	if len(listed) > 0 {
		return fmt.Errorf("chunks are missing: %v", listed)
	}
	return nil
}

// equal takes out the moment, which is another one in every plan, and what encryption made of it.
func (s *captureStory) equal(obj *unstructured.Unstructured) {
	unstructured.RemoveNestedField(obj.Object, "status", "resourceVersion")
	unstructured.RemoveNestedField(obj.Object, "spec", "resourceVersion")
	if !s.secrets {
		return
	}
	switch obj.GroupVersionKind() {
	case chunkKind:
		obj.SetName("chunk")
		unstructured.RemoveNestedField(obj.Object, "spec", "data")
	case checkpointKind:
		unstructured.RemoveNestedField(obj.Object, "spec", "chunks")
		unstructured.RemoveNestedField(obj.Object, "spec", "encryption", "wrappedKey")
	}
}

// others: a request that lost its status is not begun again; and encrypted chunks of a second
// try are other ones than those of the first, which are removed.
func (s *captureStory) others() []sim.Other {
	return []sim.Other{
		{Name: "read back before it was robbed", Faults: []sim.Fault{sim.TwoLeaders, sim.Takeover}, Is: func() bool {
			_, reason := s.now()
			return s.robbed && reason == string(capturev1.ReasonCompleted)
		}},
		{Name: "status lost", Faults: []sim.Fault{sim.Wiped}, Is: func() bool {
			_, reason := s.now()
			return reason == string(fsm.Lost)
		}},
		{Name: "status lost, and then it failed: what was captured stays", Faults: []sim.Fault{sim.Wiped}, Is: func() bool {
			r, reason := s.now()
			return s.robbed && reason == string(s.ends) && forgot(r)
		}},
		{Name: "written twice", Is: func() bool {
			r, reason := s.now()
			return s.secrets && s.made > 1 && reason == string(s.ends) && s.kept(r, s.chunks(r)) == nil
		}},
		// What somebody writes who does not know that another has taken over, and has finished,
		// is owned by the keeper, and goes with it.
		{Name: "a chunk too many", Faults: []sim.Fault{sim.TwoLeaders, sim.Takeover}, Is: func() bool {
			r, reason := s.now()
			keeper := &capturev1.ObjectKeeper{ObjectMeta: metav1.ObjectMeta{Name: request.KeeperName(r.UID)}}
			owned := s.world.Find(keeper)
			for _, chunk := range s.chunks(r) {
				owned = owned && metav1.IsControlledBy(chunk, keeper)
			}
			return s.secrets && owned && reason == string(s.ends)
		}},
	}
}

// chunks are those of a request.
func (s *captureStory) chunks(r *capturev1.ManifestCaptureRequest) (found []*unstructured.Unstructured) {
	for _, obj := range s.world.All(chunkKind) {
		if obj.GetLabels()[manifestcapture.RequestLabel] == string(r.UID) {
			found = append(found, obj)
		}
	}
	return found
}

// forgot says that the request lost its status after its checkpoint was written. It may have been Ready for long then, so
// the checkpoint stays, whatever the request fails for.
func forgot(r *capturev1.ManifestCaptureRequest) bool {
	return slices.ContainsFunc(r.Status.History, func(t meta.Transition) bool { return t.Event == fsm.Lost && t.To == manifestcapture.Verifying })
}
