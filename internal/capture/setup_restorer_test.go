package capture

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/request"
	"github.com/statecraft-dev/statecraft/internal/capture/restorer/csi/csifake"
	"github.com/statecraft-dev/statecraft/internal/capture/volumerestore"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube"
)

var disks = RestorerConfig{Driver: "disks.example.com", Namespace: "csi"}

// restoreEnv is an API server with these objects.
func restoreEnv(t *testing.T, funcs interceptor.Funcs, objects ...client.Object) kube.Env {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, storagev1.AddToScheme, capturev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(funcs).Build()
	return kube.Env{Client: c, Live: c, Now: time.Now}
}

// restoring is a request for a volume of a driver.
func restoring(name string, uid types.UID, phase fsm.Phase, driver string) *capturev1.VolumeRestoreRequest {
	r := &capturev1.VolumeRestoreRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: uid}}
	r.Spec.VolumeClaimTemplate.Name = "data"
	class := "disks"
	r.Spec.VolumeClaimTemplate.Spec.StorageClassName = &class
	r.Status.Phase = phase
	r.Status.Source = &capturev1.ResolvedSource{Driver: driver, SnapshotHandle: "s"}
	return r
}

// A request that is done, given up, another driver's or gone needs no timer: a watch tells when
// there is something to do, and with the request all that is remembered of it goes.
func TestRestorerRestsOnWhatIsNotItsOwn(t *testing.T) {
	done, others := restoring("done", "r1", volumerestore.Succeeded, disks.Driver), restoring("others", "r2", volumerestore.Restoring, "another.example.com")
	failed := restoring("failed", "r4", volumerestore.Failed, disks.Driver)
	e := restoreEnv(t, interceptor.Funcs{}, done, others, failed)
	r := NewRestorer(e, csifake.New(), disks)
	rests := func() {
		for _, key := range []reconcile.Request{
			{NamespacedName: RestoreKey("shop", "done", "r1", "data")},
			{NamespacedName: RestoreKey("shop", "others", "r2", "data")},
			{NamespacedName: RestoreKey("shop", "failed", "r4", "data")},
			{NamespacedName: RestoreKey("shop", "gone", "r3", "data")},
		} {
			for range 2 {
				if result, err := r.Reconcile(t.Context(), key); err != nil || result != (reconcile.Result{}) {
					t.Errorf("%s: %+v, %v", key.Name, result, err)
				}
			}
		}
	}
	rests()
	for _, obj := range []client.Object{done, others, failed} {
		if err := e.Client.Delete(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	rests()
	if known := r.Store.(*RestoreStore).known; len(known) > 0 {
		t.Errorf("remembers %v", known)
	}
}

// told keeps what users are told, and about what.
type told struct{ events []string }

//nolint:revive // the interface is client-go's
func (e *told) Eventf(about, _ runtime.Object, kind, reason, action, note string, args ...any) {
	obj := about.(client.Object)
	e.events = append(e.events, fmt.Sprintf("%s %s %s: %s %s %s: %s", obj.GetObjectKind().GroupVersionKind().Kind, obj.GetName(), obj.GetUID(),
		kind, reason, action, fmt.Sprintf(note, args...)))
}

// While there is no claim, there is no condition to say it in.
func TestUsersAreToldWhatTheAPIServerRefuses(t *testing.T) {
	refuses := interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, obj client.Object, o ...client.CreateOption) error {
		if _, is := obj.(*corev1.PersistentVolumeClaim); is {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumeclaims"}, "data",
				fmt.Errorf("exceeded quota: few, requested: persistentvolumeclaims=1, used: persistentvolumeclaims=1, limited: persistentvolumeclaims=1"))
		}
		return c.Create(ctx, obj, o...)
	}}
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "disks"}, Provisioner: disks.Driver}
	asks := restoring("back", "r1", volumerestore.Restoring, disks.Driver)
	keeper := request.NewKeeper(asks, capturev1.GroupVersion.WithKind("VolumeRestoreRequest"), "n1", request.Terms{})
	e := restoreEnv(t, refuses, asks, keeper, class)
	heard := &told{}
	e.Events = heard
	r := NewRestorer(e, csifake.New(), disks)
	for range 4 {
		if _, err := r.Pass(t.Context(), RestoreKey("shop", "back", "r1", "data")); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{
		"VolumeRestoreRequest back r1: Normal NoClaim ToClaim: The restorer makes the claim before the volume. (Idle → Claiming)",
		"VolumeRestoreRequest back r1: Warning QuotaExceeded Claiming: ResourceQuota few does not allow persistentvolumeclaims data, " +
			"which asks for persistentvolumeclaims=1: free some of it, or raise the quota.",
	}, heard.events); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
