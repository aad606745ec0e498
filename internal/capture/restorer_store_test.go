package capture

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

var backKey = RestoreKey("shop", "back", "r1", "data")

// intentOf is the intent of request shop/back, as it is stored.
func intentOf(t *testing.T, uid types.UID, driver string) *corev1.ConfigMap {
	t.Helper()
	cm, err := restorer.Intent{
		Request: restorer.Ref{Namespace: "shop", Name: "back", UID: uid}, Claim: restorer.Ref{Namespace: "shop", Name: "data", UID: "c1"},
		Plan: restorer.Plan{Driver: driver, Name: restorer.VolumeName(uid)},
	}.ConfigMap(disks.Namespace)
	if err != nil {
		t.Fatal(err)
	}
	cm.UID = "intent"
	return cm
}

// wanted is a request that its restorer works on.
func wanted() *capturev1.VolumeRestoreRequest {
	return restoring("back", "r1", volumerestore.Restoring, disks.Driver)
}

func getRestore(t *testing.T, s *RestoreStore, key read.Key) *restorer.Restore {
	t.Helper()
	r, found, err := s.Get(t.Context(), key)
	if err != nil || !found {
		t.Fatalf("found %t: %v", found, err)
	}
	return r
}

func saveRestore(t *testing.T, s *RestoreStore, was *restorer.Restore, phase fsm.Phase, v *restorer.Volume) error {
	t.Helper()
	next := was.DeepCopy()
	next.Status.Phase, next.Status.Volume = phase, v
	return s.Save(t.Context(), was, next)
}

func TestARestoreWithoutIntentIsKeptInMemory(t *testing.T) {
	e := restoreEnv(t, interceptor.Funcs{}, wanted())
	s := NewRestoreStore(e, disks)
	was := getRestore(t, s, backKey)
	if was.Status.Phase != restorer.Idle || was.Status.Since.IsZero() || was.Kind != "VolumeRestoreRequest" {
		t.Errorf("begins as %+v", was)
	}
	if err := saveRestore(t, s, was, restorer.Claiming, nil); err != nil {
		t.Fatal(err)
	}
	if err := saveRestore(t, s, was, restorer.Moving, nil); !apierrors.IsConflict(err) {
		t.Errorf("two passes save over the same version: %v", err)
	}
	now := getRestore(t, s, backKey)
	if now.Status.Phase != restorer.Claiming {
		t.Errorf("is in %s", now.Status.Phase)
	}
	for what, c := range map[string]struct {
		obj  *restorer.Restore
		want bool
	}{"what was": {was, false}, "what is": {now, true}} {
		if is, err := s.Current(t.Context(), c.obj); err != nil || is != c.want {
			t.Errorf("%s is current: %t, %v", what, is, err)
		}
	}
	if after := getRestore(t, NewRestoreStore(e, disks), backKey); after.Status.Phase != restorer.Idle {
		t.Errorf("after a restart it is in %s", after.Status.Phase)
	}
}

// The place of a restore goes with it: into its intent, and out of it again.
func TestTheIntentTakesTheProgressOver(t *testing.T) {
	e := restoreEnv(t, interceptor.Funcs{}, wanted())
	s := NewRestoreStore(e, disks)
	if err := saveRestore(t, s, getRestore(t, s, backKey), restorer.Claiming, nil); err != nil {
		t.Fatal(err)
	}
	intent := intentOf(t, "r1", disks.Driver)
	if err := e.Client.Create(t.Context(), intent); err != nil {
		t.Fatal(err)
	}
	was := getRestore(t, s, backKey)
	if was.Status.Phase != restorer.Claiming {
		t.Errorf("the intent has just been made, and the restore is in %s", was.Status.Phase)
	}
	if err := saveRestore(t, s, was, restorer.Provisioning, &restorer.Volume{ID: "v1"}); err != nil {
		t.Fatal(err)
	}
	if got := getRestore(t, s, backKey); got.Status.Phase != restorer.Provisioning || got.Status.Volume == nil {
		t.Errorf("what was saved is %+v", got.Status)
	}
	// A restart: the driver is asked again.
	other := NewRestoreStore(e, disks)
	if got := getRestore(t, other, backKey); got.Status.Phase != restorer.Provisioning || got.Status.Volume != nil {
		t.Errorf("after a restart it is %+v", got.Status)
	}
	// The pass removes the intent before it saves.
	was = getRestore(t, s, backKey)
	if err := e.Client.Delete(t.Context(), intent); err != nil {
		t.Fatal(err)
	}
	if err := saveRestore(t, s, was, restorer.Discarding, &restorer.Volume{ID: "v1"}); err != nil {
		t.Fatal(err)
	}
	if got := getRestore(t, s, backKey); got.Status.Phase != restorer.Discarding || got.Status.Volume != nil {
		t.Errorf("without its intent it is %+v", got.Status)
	}
	if got := getRestore(t, other, backKey); got.Status.Phase != restorer.Idle || saveRestore(t, other, got, restorer.Claiming, nil) != nil {
		t.Errorf("another process has removed the intent, and it is in %s, or cannot be saved", got.Status.Phase)
	}
	if err := e.Client.Get(t.Context(), client.ObjectKeyFromObject(intent), intent); !apierrors.IsNotFound(err) {
		t.Errorf("a save brought the intent back: %v", err)
	}
}

// What the driver answered belongs to the version that it was saved with.
func TestAnAnswerIsForgottenWhenAnotherHasSaved(t *testing.T) {
	e := restoreEnv(t, interceptor.Funcs{}, wanted(), intentOf(t, "r1", disks.Driver))
	ours, theirs := NewRestoreStore(e, disks), NewRestoreStore(e, disks)
	stale := getRestore(t, theirs, backKey)
	if err := saveRestore(t, ours, getRestore(t, ours, backKey), restorer.Provisioning, &restorer.Volume{ID: "v1"}); err != nil {
		t.Fatal(err)
	}
	if err := saveRestore(t, theirs, stale, restorer.Discarding, nil); !apierrors.IsConflict(err) {
		t.Errorf("saved over another version: %v", err)
	}
	if err := saveRestore(t, theirs, getRestore(t, theirs, backKey), restorer.Discarding, nil); err != nil {
		t.Fatal(err)
	}
	if got := getRestore(t, ours, backKey); got.Status.Phase != restorer.Discarding || got.Status.Volume != nil {
		t.Errorf("after another's save it is %+v", got.Status)
	}
}

func TestAnIntentOfAnotherIsNotWritten(t *testing.T) {
	for what, c := range map[string]struct {
		intent *corev1.ConfigMap
		key    read.Key
	}{
		"another driver's":    {intentOf(t, "r1", "tapes.example.com"), backKey},
		"another namespace's": {intentOf(t, "r1", disks.Driver), RestoreKey("thief", "back", "r1", "data")},
		"not one at all":      {&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: disks.Namespace, Name: restorer.VolumeName("r1")}}, backKey},
	} {
		t.Run(what, func(t *testing.T) {
			thief := wanted()
			thief.Namespace = "thief"
			e := restoreEnv(t, interceptor.Funcs{}, wanted(), thief, c.intent)
			s := NewRestoreStore(e, disks)
			if err := saveRestore(t, s, getRestore(t, s, c.key), restorer.Claiming, nil); err != nil {
				t.Fatal(err)
			}
			there := &corev1.ConfigMap{}
			if err := e.Client.Get(t.Context(), client.ObjectKeyFromObject(c.intent), there); err != nil {
				t.Fatal(err)
			}
			if _, says := restorer.ProgressOf(there); says {
				t.Error("its progress is in the intent of another")
			}
		})
	}
}

// A restore lasts as long as there is something that it may have to look after.
func TestARestoreOutlivesItsRequest(t *testing.T) {
	group := capturev1.GroupName
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "data", Annotations: map[string]string{capturev1.RestoreAnnotation: "r1"},
	}}
	claim.Spec.DataSourceRef = &corev1.TypedObjectReference{APIGroup: &group, Kind: "VolumeRestoreRequest", Name: "back"}
	anew := wanted()
	anew.UID = "r2"
	strange := claim.DeepCopy()
	strange.Annotations = nil
	for what, c := range map[string]struct {
		there []client.Object
		found bool
	}{
		"the request":                {[]client.Object{wanted()}, true},
		"its intent":                 {[]client.Object{intentOf(t, "r1", disks.Driver)}, true},
		"its claim":                  {[]client.Object{claim}, true},
		"a claim of somebody else":   {[]client.Object{strange}, false},
		"another of the same name":   {[]client.Object{anew}, false},
		"another driver's intent":    {[]client.Object{intentOf(t, "r1", "tapes.example.com")}, false},
		"nothing":                    {nil, false},
		"another, and its own claim": {[]client.Object{anew, claim}, true},
	} {
		s := NewRestoreStore(restoreEnv(t, interceptor.Funcs{}, c.there...), disks)
		if _, found, err := s.Get(t.Context(), backKey); err != nil || found != c.found {
			t.Errorf("%s is left: found %t, %v", what, found, err)
		}
	}
}

func TestAKeyThatNamesNoRestoreIsNotTriedAgain(t *testing.T) {
	r := NewRestorer(restoreEnv(t, interceptor.Funcs{}), nil, disks)
	_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: read.Key{Namespace: "shop", Name: "back"}})
	if !errors.Is(err, reconcile.TerminalError(nil)) {
		t.Errorf("got %v", err)
	}
}
