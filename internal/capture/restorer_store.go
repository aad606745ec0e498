package capture

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// RestoreStore keeps how far restores are: in the intent while there is one, else in memory.
//
// Before the intent the restorer has no object of its own. The claim is the user's, who could
// write any progress into it, and an object made for that alone would be two more writes for
// each restore. Nothing has been spent yet, and the machine finds its place from what exists.
type RestoreStore struct {
	cached    read.Reader
	live      read.Live
	writer    kube.Writer
	driver    string
	namespace string // of intents
	now       func() time.Time

	mu    sync.Mutex
	saves int
	known map[read.Key]*restorer.Restore // by the namespace and the UID of the request
}

// NewRestoreStore makes the store of a driver's restorer.
func NewRestoreStore(e kube.Env, c RestorerConfig) *RestoreStore {
	return &RestoreStore{
		cached: e.Cached(), live: e.LiveReader(), writer: e.Writer("restorer"), driver: c.Driver, namespace: c.Namespace,
		now: e.Now, known: map[read.Key]*restorer.Restore{},
	}
}

// Get implements kube.Store. A restore is gone when its request is, and has left neither an
// intent nor a claim.
func (s *RestoreStore) Get(ctx context.Context, key read.Key) (*restorer.Restore, bool, error) {
	r, err := ParseRestoreKey(key)
	if err != nil {
		return nil, false, err
	}
	intent, err := s.intent(ctx, r)
	if err != nil {
		return nil, false, err
	}
	if intent == nil {
		if there, err := s.exists(ctx, r); err != nil || !there {
			s.forget(r)
			return r, false, err
		}
	}
	s.locate(r, intent)
	return r, true, nil
}

// intent reads the intent of a restore; nil if there is none, or it is of another one.
func (s *RestoreStore) intent(ctx context.Context, r *restorer.Restore) (*corev1.ConfigMap, error) {
	cm := &corev1.ConfigMap{}
	key := read.Key{Namespace: s.namespace, Name: restorer.VolumeName(r.UID)}
	switch err := s.live.Get(ctx, key, cm); {
	case read.SaysGone(err, key.Name):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read intent %s: %w", key.Name, err)
	}
	if !isOf(cm, r, s.driver) {
		return nil, nil
	}
	return cm, nil
}

// isOf says that a ConfigMap is the intent of a restore. One that cannot be read is the observer's to tell of.
func isOf(cm *corev1.ConfigMap, r *restorer.Restore, driver string) bool {
	i, err := restorer.ParseIntent(cm)
	return err == nil && i.For(r, driver)
}

// exists says that a request is there, or the claim that was made for it. The claim is read
// live: the cache may not show yet what we made a moment ago.
func (s *RestoreStore) exists(ctx context.Context, r *restorer.Restore) (bool, error) {
	request := &capturev1.VolumeRestoreRequest{}
	switch err := s.cached.Get(ctx, read.Key{Namespace: r.Namespace, Name: r.Name}, request); {
	case err == nil && request.UID == r.UID:
		return true, nil
	case err != nil && !apierrors.IsNotFound(err):
		return false, fmt.Errorf("read request %s/%s: %w", r.Namespace, r.Name, err)
	}
	name := r.Annotations[restorer.ClaimName]
	if name == "" {
		return false, nil
	}
	claim := &corev1.PersistentVolumeClaim{}
	switch err := s.live.Get(ctx, read.Key{Namespace: r.Namespace, Name: name}, claim); {
	case read.SaysGone(err, name):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read claim %s/%s: %w", r.Namespace, name, err)
	}
	return restorer.IsOurs(claim, r), nil
}

// locate says how far a restore is. What the driver answered counts for the version of the
// intent that it was saved with; the progress in memory counts while no intent says more.
func (s *RestoreStore) locate(r *restorer.Restore, intent *corev1.ConfigMap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, has := s.known[idOf(r)]
	r.Begin(metav1.NewTime(s.now().Truncate(time.Second)))
	if intent == nil {
		if r.ResourceVersion = s.inMemory(r); has {
			r.Status.Progress = known.DeepCopy().Status.Progress
		}
		return
	}
	r.ResourceVersion = versionOf(intent)
	progress, says := restorer.ProgressOf(intent)
	switch {
	case has && known.ResourceVersion == r.ResourceVersion:
		r.Status = known.DeepCopy().Status
	case says:
		r.Status.Progress = progress
	case has && !isIntent(known):
		r.Status.Progress = known.DeepCopy().Status.Progress
	}
}

// inMemory is the version of a restore that is kept in memory alone; "" if it is not.
func (s *RestoreStore) inMemory(r *restorer.Restore) string {
	if known, has := s.known[idOf(r)]; has && !isIntent(known) {
		return known.ResourceVersion
	}
	return ""
}

// Versions of restores: that of the intent, or the number of a save in memory.
const inIntent = "intent-"

func versionOf(intent *corev1.ConfigMap) string { return inIntent + intent.ResourceVersion }
func isIntent(r *restorer.Restore) bool         { return strings.HasPrefix(r.ResourceVersion, inIntent) }
func idOf(r *restorer.Restore) read.Key         { return read.Key{Namespace: r.Namespace, Name: string(r.UID)} }

// Save implements kube.Store. An intent that is gone was removed by this pass, as a rule: it has
// done its work, and what is left to do is found from what exists.
func (s *RestoreStore) Save(ctx context.Context, was, next *restorer.Restore) error {
	version := ""
	if isIntent(was) {
		var err error
		if version, err = s.write(ctx, was, next); err != nil && !read.SaysGone(err, restorer.VolumeName(was.UID)) {
			return fmt.Errorf("save progress: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !isIntent(was) && s.inMemory(was) != was.ResourceVersion {
		return apierrors.NewConflict(capturev1.GroupVersion.WithResource("restores").GroupResource(), was.Name, fmt.Errorf("another pass has saved it"))
	}
	if version == "" {
		s.saves++
		version = strconv.Itoa(s.saves)
	}
	next = next.DeepCopy()
	next.ResourceVersion = version
	s.known[idOf(was)] = next
	return nil
}

// write writes the progress into the intent, in the version that it was read in. It is no
// request if only the driver's answer is new, which counts for this version alone.
func (s *RestoreStore) write(ctx context.Context, was, next *restorer.Restore) (version string, err error) {
	if equality.Semantic.DeepEqual(was.Status.Progress, next.Status.Progress) {
		return was.ResourceVersion, nil
	}
	from := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: s.namespace, Name: restorer.VolumeName(was.UID), ResourceVersion: strings.TrimPrefix(was.ResourceVersion, inIntent),
	}}
	to, err := restorer.WithProgress(from, &next.Status.Progress)
	if err != nil {
		return "", err
	}
	if err := s.writer.Patch(ctx, from, to); err != nil {
		return "", err
	}
	return versionOf(to), nil
}

// Current implements kube.Store.
func (s *RestoreStore) Current(ctx context.Context, obj *restorer.Restore) (bool, error) {
	intent, err := s.intent(ctx, obj)
	if err != nil {
		return false, err
	}
	if intent != nil {
		return versionOf(intent) == obj.ResourceVersion, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inMemory(obj) == obj.ResourceVersion, nil
}

// Wrote implements kube.Store: intents are not watched, so no event is about a save.
func (s *RestoreStore) Wrote(client.Object) bool { return false }

// Watched implements kube.Store.
func (s *RestoreStore) Watched() client.Object { return nil }

func (s *RestoreStore) forget(r *restorer.Restore) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.known, idOf(r))
}
