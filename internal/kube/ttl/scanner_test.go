package ttl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	meta "github.com/statecraft-dev/statecraft/api/meta/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// bench is a scanner over some objects, which writes down what it deletes.
type bench struct {
	Scanner
	deleted []string
	counted map[string]int
	refuse  error
}

func newBench(t *testing.T, hooks interceptor.Funcs, objs ...client.Object) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := capturev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objs...).WithInterceptorFuncs(hooks).Build()
	b := &bench{counted: map[string]int{}}
	b.Scanner = Scanner{
		Live: read.Live{Reader: c}, Now: func() time.Time { return ended.Add(day) },
		Mine: func(read.Key) bool { return true }, Kinds: testKinds(),
		Gone: func(kind string) { b.counted[kind]++ },
		Delete: func(_ context.Context, obj client.Object, seen kube.Seen) error {
			if seen.UID == "" || seen.ResourceVersion == "" {
				t.Errorf("%s would be deleted without preconditions", obj.GetName())
			}
			if b.refuse != nil {
				return b.refuse
			}
			b.deleted = append(b.deleted, obj.GetNamespace()+"/"+obj.GetName())
			return nil
		},
	}
	return b
}

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "u", ResourceVersion: "7"}
}

func over(ready metav1.ConditionStatus) (meta.Progress, capturev1.Completion) {
	return meta.Progress{Conditions: []metav1.Condition{{Type: "Ready", Status: ready}}},
		capturev1.Completion{CompletionTimestamp: &metav1.Time{Time: ended}}
}

func volume(name string, ready metav1.ConditionStatus) *capturev1.VolumeCaptureRequest {
	r := &capturev1.VolumeCaptureRequest{ObjectMeta: named("shop", name)}
	r.Status.Progress, r.Status.Completion = over(ready)
	return r
}

// testKinds are two kinds that end.
func testKinds() []Kind {
	return []Kind{
		Of("VolumeCaptureRequest", Terms{Failed: day}, func() client.ObjectList { return &capturev1.VolumeCaptureRequestList{} },
			func(r *capturev1.VolumeCaptureRequest) End {
				return NewEnd(r.Status.Conditions, r.Status.CompletionTimestamp)
			}),
		Of("ManifestCaptureRequest", Terms{Failed: day}, func() client.ObjectList { return &capturev1.ManifestCaptureRequestList{} },
			func(r *capturev1.ManifestCaptureRequest) End {
				return NewEnd(r.Status.Conditions, r.Status.CompletionTimestamp)
			}),
	}
}

// kindsAt are one failed object of each kind, and one of a kind that is not looked at.
func kindsAt() []client.Object {
	m := &capturev1.ManifestCaptureRequest{ObjectMeta: named("shop", "manifests")}
	m.Status.Progress, m.Status.Completion = over(metav1.ConditionFalse)
	v := &capturev1.VolumeRestoreRequest{ObjectMeta: named("shop", "volume-again")}
	v.Status.Progress, v.Status.Completion = over(metav1.ConditionFalse)
	return []client.Object{volume("volume", metav1.ConditionFalse), m, v}
}

func TestOnlyWhatIsDueGoes(t *testing.T) {
	young := volume("young", metav1.ConditionFalse)
	young.Status.CompletionTimestamp = &metav1.Time{Time: ended.Add(time.Second)}
	spared := volume("spared", metav1.ConditionFalse)
	going := volume("going", metav1.ConditionFalse)
	going.DeletionTimestamp, going.Finalizers = &metav1.Time{Time: ended}, []string{"example.com/theirs"}
	b := newBench(t, interceptor.Funcs{}, append(kindsAt(), young, spared, going, volume("kept", metav1.ConditionTrue))...)
	judge := b.Kinds[0].End
	b.Kinds[0].End = func(obj client.Object) End {
		end := judge(obj)
		end.Spared = obj.GetName() == "spared"
		return end
	}
	if err := b.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"shop/volume", "shop/manifests"}, b.deleted); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]int{"VolumeCaptureRequest": 1, "ManifestCaptureRequest": 1}, b.counted); diff != "" {
		t.Error(diff)
	}
}

// TestTermsAreOfAKind gives one kind no term: it is not even read.
func TestTermsAreOfAKind(t *testing.T) {
	var listed []string
	hooks := interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		listed = append(listed, fmt.Sprintf("%T", list))
		return c.List(ctx, list, opts...)
	}}
	b := newBench(t, hooks, kindsAt()...)
	b.Kinds[0].Terms = Terms{}
	if err := b.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"*v1alpha1.ManifestCaptureRequestList"}, listed); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"shop/manifests"}, b.deleted); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsOfAnotherKindHasNotEnded(t *testing.T) {
	if end := testKinds()[0].End(kindsAt()[1]); end != (End{}) {
		t.Errorf("%+v", end)
	}
}

func TestOthersObjectsStay(t *testing.T) {
	elsewhere := volume("volume", metav1.ConditionFalse)
	elsewhere.Namespace = "bank"
	b := newBench(t, interceptor.Funcs{}, append(kindsAt(), elsewhere)...)
	b.Mine = func(key read.Key) bool { return key.Name != "manifests" }
	b.Namespaces = []string{"shop"}
	if err := b.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"shop/volume"}, b.deleted); diff != "" {
		t.Error(diff)
	}
}

// TestPagesAreFollowed serves two pages, and loses the list in between once.
func TestPagesAreFollowed(t *testing.T) {
	var asked []string
	pages := map[string]string{"": "more", "more": ""}
	hooks := interceptor.Funcs{List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		o := (&client.ListOptions{}).ApplyOptions(opts)
		if o.Limit != page {
			t.Errorf("limit %d", o.Limit)
		}
		asked = append(asked, o.Continue)
		volumes, ok := list.(*capturev1.VolumeCaptureRequestList)
		if !ok {
			return nil
		}
		volumes.Items = append(volumes.Items, *volume("after-"+o.Continue, metav1.ConditionFalse))
		volumes.Continue = pages[o.Continue]
		return nil
	}}
	b := newBench(t, hooks)
	if err := b.Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"", "more", ""}, asked); diff != "" { // the last is the other kind
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"shop/after-", "shop/after-more"}, b.deleted); diff != "" {
		t.Error(diff)
	}
}

func TestAFailureOfOneDoesNotKeepTheOthers(t *testing.T) {
	broken := errors.New("no list today")
	hooks := interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
		if strings.Contains(fmt.Sprintf("%T", list), "VolumeCapture") {
			return broken
		}
		return c.List(ctx, list, opts...)
	}}
	b := newBench(t, hooks, kindsAt()...)
	if err := b.Scan(t.Context()); !errors.Is(err, broken) || !slices.Equal(b.deleted, []string{"shop/manifests"}) {
		t.Errorf("deleted %v, %v", b.deleted, err)
	}
	b = newBench(t, interceptor.Funcs{}, kindsAt()...)
	b.refuse = errors.New("conflict")
	if err := b.Scan(t.Context()); !errors.Is(err, b.refuse) || len(b.counted) > 0 {
		t.Errorf("counted %v, %v", b.counted, err)
	}
}

// TestWhatIsNeededStays, and so does what the look for its users failed for.
func TestWhatIsNeededStays(t *testing.T) {
	b := newBench(t, interceptor.Funcs{}, volume("needed", metav1.ConditionFalse), volume("unclear", metav1.ConditionFalse), volume("free", metav1.ConditionFalse))
	b.Kinds[0].Needed = func(_ context.Context, obj client.Object) (bool, error) {
		if obj.GetName() == "unclear" {
			return false, errors.New("the server is away")
		}
		return obj.GetName() == "needed", nil
	}
	if err := b.Scan(t.Context()); err == nil || !strings.Contains(err.Error(), "the server is away") {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff([]string{"shop/free"}, b.deleted); diff != "" {
		t.Error(diff)
	}
}
