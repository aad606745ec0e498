package act

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/kube"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// shelf is a Source that holds so many objects of each resource.
type shelf struct {
	holds map[string]int
	fail  func(title string, o ListOptions) error // nil: the page is given
	asked []string
}

func (s *shelf) Resources(context.Context) (all []manifest.Resource, err error) {
	for title := range s.holds {
		resource, group, _ := strings.Cut(title, ".")
		all = append(all, manifest.Resource{Group: group, Version: "v1", Resource: resource, Kind: "Kind"})
	}
	return all, nil
}

func (s *shelf) List(_ context.Context, q manifest.Query, o ListOptions) ([]byte, error) {
	s.asked = append(s.asked, fmt.Sprintf("%s at %s from %q limit %d", q.Title(), o.Moment, o.Continue, o.Limit))
	if s.fail != nil {
		if err := s.fail(q.Title(), o); err != nil {
			return nil, err
		}
	}
	from := 0
	if o.Continue != "" {
		if _, err := fmt.Sscan(o.Continue, &from); err != nil {
			return nil, err
		}
	}
	to, more := from+int(o.Limit), ""
	if has := s.holds[q.Title()]; to < has {
		more = fmt.Sprint(to)
	} else {
		to = has
	}
	var items []string
	for i := from; i < to; i++ {
		items = append(items, fmt.Sprintf(`{"metadata":{"name":"object-%d"},"data":{}}`, i))
	}
	return fmt.Appendf(nil, `{"metadata":{"continue":%q},"items":[%s]}`, more, strings.Join(items, ",")), nil
}

var someRequest = &capturev1.ManifestCaptureRequest{
	ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "before", UID: "5d3c3e0a-0000-4000-8000-000000000001"},
	Spec:       capturev1.ManifestCaptureRequestSpec{Selector: &capturev1.ManifestSelector{}},
}

// reading begins to read, and goes on until the work ends.
func reading(t *testing.T, a ManifestCapture, moment string) error {
	t.Helper()
	if _, err := a.Act(t.Context(), someRequest, manifestcapture.StartReading{Moment: moment}); err != nil {
		return err
	}
	for range 1000 {
		if a.Work.Drive(t.Context()) == 0 {
			return a.Work.Work(read.Key{Namespace: "shop", Name: "before"}).Err
		}
	}
	t.Fatal("the work never ends")
	return nil
}

func newCapture(s *shelf) ManifestCapture {
	return ManifestCapture{Work: &kube.Worker[manifestcapture.Result]{Wake: func(read.Key) {}}, Buffer: NewCaptureBuffer(false), Source: s}
}

func (a ManifestCapture) expected() int32 {
	if found := a.Work.Work(read.Key{Namespace: "shop", Name: "before"}).Result.Found; found != nil {
		return found.Expected
	}
	return -1
}

func TestReadingGoesPageByPage(t *testing.T) {
	for _, ahead := range []bool{false, true} {
		s := &shelf{holds: map[string]int{"configmaps": 1200, "deployments.apps": 3, "services": 0}}
		a := newCapture(s)
		a.Buffer.Ahead = ahead
		if err := reading(t, a, "100"); err != nil {
			t.Fatal(err)
		}
		if got := a.expected(); got != 1203 {
			t.Errorf("%d objects, want 1203", got)
		}
		if len(s.asked) != 5 {
			t.Errorf("asked %v", s.asked)
		}
	}
}

// TestReadingResumes: who was told to come back later goes on where it stood, and only after
// the failure was told.
func TestReadingResumes(t *testing.T) {
	down := true
	s := &shelf{holds: map[string]int{"configmaps": 600}}
	s.fail = func(_ string, o ListOptions) error {
		if down && o.Continue != "" {
			return apierrors.NewTimeoutError("too large resource version", 1)
		}
		return nil
	}
	a := newCapture(s)
	if err := reading(t, a, "100"); !apierrors.IsTimeout(err) {
		t.Fatalf("error %v", err)
	}
	if err := reading(t, a, "100"); !apierrors.IsTimeout(err) {
		t.Fatalf("the failure is not told: %v", err)
	}
	down = false
	if err := reading(t, a, "100"); err != nil || a.expected() != 600 {
		t.Fatalf("%d objects: %v", a.expected(), err)
	}
	if len(s.asked) != 3 {
		t.Errorf("begun anew: %v", s.asked)
	}
}

func TestAMomentThatIsLostIsTold(t *testing.T) {
	s := &shelf{holds: map[string]int{"configmaps": 600}}
	s.fail = func(_ string, o ListOptions) error {
		if o.Continue != "" {
			return apierrors.NewResourceExpired("compacted")
		}
		return nil
	}
	a := newCapture(s)
	if err := reading(t, a, "100"); !errors.Is(err, manifestcapture.ErrExpired) {
		t.Fatalf("error %v", err)
	}
	s.fail = nil
	if err := reading(t, a, "200"); err != nil || a.expected() != 600 {
		t.Errorf("at another moment %d objects: %v", a.expected(), err)
	}
	if last := s.asked[len(s.asked)-2]; !strings.Contains(last, "at 200") {
		t.Errorf("asked %v", s.asked)
	}
}

func TestAllThatIsForbiddenIsTold(t *testing.T) {
	s := &shelf{holds: map[string]int{"configmaps": 600, "deployments.apps": 3, "services": 600}}
	s.fail = func(title string, _ ListOptions) error {
		if title == "configmaps" {
			return nil
		}
		return apierrors.NewForbidden(schema.GroupResource{Resource: title}, "", errors.New("no"))
	}
	err := reading(t, newCapture(s), "100")
	refusal := (*manifest.Refusal)(nil)
	if !errors.As(err, &refusal) || refusal.Reason != capturev1.ReasonForbidden {
		t.Fatalf("error %v", err)
	}
	for _, want := range []string{"ServiceAccount statecraft-capture of namespace shop", `apiGroups: ["apps"], resources: ["deployments"], verbs: ["list"]`, `resources: ["services"]`} {
		if !strings.Contains(refusal.Message, want) {
			t.Errorf("%q does not say %q", refusal.Message, want)
		}
	}
	if !strings.Contains(refusal.Message, "onForbidden") {
		t.Errorf("%q does not say how to do without", refusal.Message)
	}
	// That the manager itself may not impersonate is not the namespace's fault, and may pass.
	s.fail = func(string, ListOptions) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "serviceaccounts"}, "", errors.New("User cannot impersonate resource"))
	}
	if err := reading(t, newCapture(s), "100"); err == nil || errors.As(err, &refusal) {
		t.Errorf("error %v", err)
	}
}

// TestWhatMayNotBeReadIsLeftOutIfTheRequestSaysSo: and it is listed. What was read in part is not: nobody would know.
func TestWhatMayNotBeReadIsLeftOutIfTheRequestSaysSo(t *testing.T) {
	was := someRequest.Spec.Selector
	someRequest.Spec.Selector = &capturev1.ManifestSelector{OnForbidden: capturev1.ForbiddenSkip}
	t.Cleanup(func() { someRequest.Spec.Selector = was })
	no := func(title string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: title}, "", errors.New("no"))
	}
	for _, ahead := range []bool{false, true} {
		s := &shelf{holds: map[string]int{"configmaps": 600, "gadgets.example.com": 3, "services": 2}}
		s.fail = func(title string, _ ListOptions) error {
			if title == "gadgets.example.com" {
				return no(title)
			}
			return nil
		}
		a := newCapture(s)
		a.Buffer.Ahead = ahead
		if err := reading(t, a, "100"); err != nil || a.expected() != 602 {
			t.Fatalf("%d objects: %v", a.expected(), err)
		}
		left := a.Work.Work(read.Key{Namespace: "shop", Name: "before"}).Result.Found.Skipped
		if len(left) != 1 || left[0].Resource != "gadgets" || left[0].Reason != manifest.ReasonNotAllowed {
			t.Errorf("left out %+v", left)
		}
		s.fail = func(title string, o ListOptions) error {
			if o.Continue != "" {
				return no(title)
			}
			return nil
		}
		refusal := (*manifest.Refusal)(nil)
		if err := reading(t, newCapture(s), "100"); !errors.As(err, &refusal) || refusal.Reason != capturev1.ReasonForbidden {
			t.Errorf("a part is taken for all: %v", err)
		}
	}
}

func TestPagesThatAreTooLargeAreCut(t *testing.T) {
	s := &shelf{holds: map[string]int{"configmaps": 100}}
	s.fail = func(_ string, o ListOptions) error {
		if o.Limit > 20 {
			return ErrPageTooLarge
		}
		return nil
	}
	a := newCapture(s)
	// Small objects make for large pages again, which are cut again.
	if err := reading(t, a, "100"); err != nil || a.expected() != 100 {
		t.Errorf("%d objects: %v", a.expected(), err)
	}
}

func TestAKindThatIsGoneIsLeftOutOfTheNextPlan(t *testing.T) {
	s := &shelf{holds: map[string]int{"configmaps": 1, "gadgets.example.com": 1}}
	s.fail = func(title string, _ ListOptions) error {
		if title == "gadgets.example.com" {
			delete(s.holds, title)
			return apierrors.NewNotFound(schema.GroupResource{Resource: title}, "")
		}
		return nil
	}
	a := newCapture(s)
	for range 2 {
		if err := reading(t, a, "100"); !apierrors.IsNotFound(err) {
			t.Fatalf("error %v", err)
		}
	}
	if err := reading(t, a, "100"); err != nil || a.expected() != 1 {
		t.Errorf("%d objects: %v", a.expected(), err)
	}
}

// TestACaptureBufferHoldsFew: what is held of captures is bounded, and given back.
func TestACaptureBufferHoldsFew(t *testing.T) {
	a := newCapture(&shelf{holds: map[string]int{"configmaps": 1}})
	for i := range 3 * captures {
		if err := reading(t, a, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if held := len(a.Buffer.slots); held != 1 {
		t.Errorf("%d slots are held for one request", held)
	}
	a.Buffer.Drop(read.Key{Namespace: "shop", Name: "before"})
	if held := len(a.Buffer.slots); held != 0 {
		t.Errorf("%d slots are held for nothing", held)
	}
}

// TestACaptureThatFailsGivesUpItsPlace: those that cannot be read wait for their deadlines, and
// others do not wait for them.
func TestACaptureThatFailsGivesUpItsPlace(t *testing.T) {
	a := newCapture(&shelf{holds: map[string]int{"configmaps": 1}, fail: func(string, ListOptions) error { return errors.New("overloaded") }})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // who waits in vain would wait for ever
	defer cancel()
	for i := range 2 * captures {
		r := someRequest.DeepCopy()
		r.Name, r.UID = fmt.Sprint("failing-", i), types.UID(fmt.Sprint(i))
		if _, err := a.Act(t.Context(), r, manifestcapture.StartReading{Moment: "100"}); err != nil {
			t.Fatal(err)
		}
		for a.Work.Drive(ctx) > 0 {
		}
	}
	if ctx.Err() != nil {
		t.Fatal("a capture waited for others that fail")
	}
	a.Source = &shelf{holds: map[string]int{"configmaps": 1}}
	if err := reading(t, a, "100"); err != nil || a.expected() != 1 {
		t.Errorf("%d objects: %v", a.expected(), err)
	}
}
