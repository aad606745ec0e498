package act

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capturev1 "github.com/statecraft-dev/statecraft/api/capture/v1alpha1"
	"github.com/statecraft-dev/statecraft/internal/capture/checkpoint"
	"github.com/statecraft-dev/statecraft/internal/capture/manifest"
	"github.com/statecraft-dev/statecraft/internal/capture/manifestcapture"
	"github.com/statecraft-dev/statecraft/internal/fsm"
	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// Pages are as large as fits into so many bytes, going by those before. The first is of
// objects of which nothing is known, and one may be larger than a megabyte: a page that is
// too large is not read to its end, but asked for again with fewer objects.
const (
	longestPage = 500
	pageBytes   = 4 << 20
	shrinkBy    = 8
)

// buffer is what was read of one request at one moment.
type buffer struct {
	request *capturev1.ManifestCaptureRequest
	moment  string
	holds   bool // a slot of the CaptureBuffer

	seal    *checkpoint.Seal
	encoder *checkpoint.Encoder
	intake  *manifest.Intake
	plan    *manifest.Plan
	at      int    // the query at hand
	token   string // of its next page
	limit   int64
	ahead   chan answer
	denied  []string // rules that are missing

	done    bool // all is read
	chunks  []checkpoint.Chunk
	written int
	weight  int64 // in bytes, once it was weighed against the budget
}

type answer struct {
	body []byte
	err  error
}

// reader is the work that reads all objects of a request at a moment.
func (a ManifestCapture) reader(r *capturev1.ManifestCaptureRequest, moment string) captureJob {
	key := client.ObjectKeyFromObject(r)
	s := a.Buffer.buffer(key, &buffer{request: r.DeepCopy(), moment: moment})
	return a.Buffer.releaseOnError(key, s, func(ctx context.Context) (result manifestcapture.Result, done bool, err error) {
		if done, err = a.readOn(ctx, key, s); done && err == nil {
			result.Found = s.found()
		}
		return result, done, err
	})
}

func (s *buffer) found() *manifestcapture.Found {
	return &manifestcapture.Found{Expected: s.intake.Expected(), Skipped: s.intake.Skipped()}
}

// readOn begins, or reads one page.
func (a ManifestCapture) readOn(ctx context.Context, key read.Key, s *buffer) (done bool, err error) {
	switch {
	case s.done:
		return true, nil
	case s.plan == nil:
		err = a.begin(ctx, key, s)
	case s.at < len(s.plan.Queries):
		err = a.readPage(ctx, s)
	default:
		err = s.finish()
	}
	if errors.Is(err, checkpoint.ErrTooLarge) {
		err = &manifest.Refusal{Reason: capturev1.ReasonTooLarge, Message: fmt.Sprintf("There is more than the %d MiB that a checkpoint holds; capture less with one request.", checkpoint.MaxBytes>>20)}
	}
	return s.done, err
}

// begin waits for a slot, and finds out what to read.
func (a ManifestCapture) begin(ctx context.Context, key read.Key, s *buffer) error {
	if !s.holds {
		select {
		case a.Buffer.slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		if !a.Buffer.hold(key, s) {
			return context.Canceled
		}
	}
	if s.request.Spec.IncludeSecrets {
		ring, err := a.ring(ctx)
		if err != nil {
			return err
		}
		if s.seal, err = ring.NewSeal(s.request.UID, rand.Reader); err != nil {
			return fmt.Errorf("make key: %w", err)
		}
	}
	served, err := a.Source.Resources(ctx)
	if err != nil {
		return fmt.Errorf("discover resources: %w", err)
	}
	plan, err := manifest.PlanOf(&s.request.Spec, served)
	if err != nil {
		return err
	}
	if s.encoder, err = checkpoint.NewEncoder(s.request.UID, s.seal); err != nil {
		return err
	}
	s.intake, s.plan, s.limit = manifest.NewIntake(&s.request.Spec, plan), &plan, longestPage
	return nil
}

// ring reads the operator's keys.
func (a ManifestCapture) ring(ctx context.Context) (checkpoint.Ring, error) {
	var secret corev1.Secret
	err := a.Live.Get(ctx, read.Key{Namespace: a.KeysIn, Name: checkpoint.KeysSecret}, &secret)
	if read.SaysGone(err, checkpoint.KeysSecret) {
		return checkpoint.Ring{}, keyMissing("Secret " + checkpoint.KeysSecret + " with the keys does not exist in the operator's namespace; create it, and make another request.")
	} else if err != nil {
		return checkpoint.Ring{}, fmt.Errorf("read keys: %w", err)
	}
	ring, err := checkpoint.ParseRing(secret.Data)
	if err != nil {
		return ring, keyMissing("Secret " + checkpoint.KeysSecret + " of the operator's namespace is not valid; it needs an entry of 32 bytes, and the entry active, which names it.")
	}
	return ring, nil
}

func keyMissing(why string) error {
	return &manifest.Refusal{Reason: capturev1.ReasonKeyMissing, Message: why}
}

// readPage takes one page, and has the next one fetched meanwhile.
func (a ManifestCapture) readPage(ctx context.Context, s *buffer) error {
	q := s.plan.Queries[s.at]
	if s.ahead == nil {
		s.ahead = a.fetch(ctx, s)
	}
	got := <-s.ahead
	s.ahead = nil
	if got.err != nil {
		return a.notRead(s, q, got.err)
	}
	page, err := manifest.ParsePage(got.body)
	if err != nil {
		return fmt.Errorf("read %s: %w", q.Title(), err)
	}
	s.advance(page, len(got.body))
	if a.Buffer.Ahead && s.at < len(s.plan.Queries) {
		s.ahead = a.fetch(ctx, s)
	}
	if len(s.denied) > 0 { // nothing comes of it any more
		return nil
	}
	for _, item := range page.Items {
		document, err := s.intake.Take(q, item)
		if err != nil {
			return err
		}
		if document == nil {
			continue
		}
		full, err := s.encoder.Add(document)
		if err != nil {
			return err
		}
		s.chunks = append(s.chunks, full...)
	}
	if page.Continue == "" {
		return s.intake.Done(q)
	}
	return nil
}

// advance goes to the next page, and chooses its size.
func (s *buffer) advance(page manifest.Page, bytes int) {
	if s.token = page.Continue; s.token == "" || len(s.denied) > 0 {
		s.at++
		s.token, s.limit = "", longestPage
		return
	}
	each := max(1, bytes/max(1, len(page.Items)))
	s.limit = int64(min(longestPage, max(1, pageBytes/each)))
}

func (a ManifestCapture) fetch(ctx context.Context, s *buffer) chan answer {
	to, q := make(chan answer, 1), s.plan.Queries[s.at]
	o := ListOptions{Namespace: s.request.Namespace, Moment: s.moment, Continue: s.token, Limit: s.limit}
	if len(s.denied) > 0 {
		o.Limit = 1
	}
	get := func() {
		body, err := a.Source.List(ctx, q, o)
		to <- answer{body, err}
	}
	if a.Buffer.Ahead {
		go get()
	} else {
		get()
	}
	return to
}

// notRead says what becomes of a page that could not be read.
func (a ManifestCapture) notRead(s *buffer, q manifest.Query, err error) error {
	switch {
	case errors.Is(err, ErrPageTooLarge) && s.limit > 1:
		s.limit = max(1, s.limit/shrinkBy)
		return nil
	case apierrors.IsResourceExpired(err), apierrors.IsGone(err):
		return manifestcapture.ErrExpired
	case forbidden(err) && q.Optional && s.token == "": // of a part that was taken already nobody would know that it is one
		s.intake.LeaveOut(q.Resource)
		s.advance(manifest.Page{}, 0)
		return nil
	case forbidden(err):
		// All that is missing is told at once, so the rest is looked at, too.
		if rule := q.Missing(); len(s.denied) == 0 || s.denied[len(s.denied)-1] != rule {
			s.denied = append(s.denied, rule)
		}
		s.advance(manifest.Page{}, 0)
		return nil
	case apierrors.IsNotFound(err): // the resource is not served any more
		s.plan = nil
		s.chunks, s.denied, s.at, s.token = nil, nil, 0, ""
	}
	return &fsm.Error{Class: fsm.Transient, Err: fmt.Errorf("list %s: %w", q.Title(), err), Say: "The API server cannot list " + q.Title() + "; the manager tries again."}
}

// forbidden says that the account may not list something; that the manager may not be the account is another matter.
func forbidden(err error) bool {
	return apierrors.IsForbidden(err) && !strings.Contains(err.Error(), "cannot impersonate")
}

// finish ends the last chunk.
func (s *buffer) finish() error {
	if len(s.denied) > 0 {
		return &manifest.Refusal{Reason: capturev1.ReasonForbidden, Message: fmt.Sprintf(
			"ServiceAccount %s of namespace %s may not read everything; give it a Role with these rules, and make another request%s: %s.",
			Account, s.request.Namespace, orLeaveOut(s.request.Spec.Selector), strings.Join(s.denied, "; "))}
	}
	if err := s.intake.Complete(); err != nil {
		return err
	}
	last, err := s.encoder.End()
	if err != nil {
		return err
	}
	s.chunks = append(s.chunks, last...)
	s.encoder, s.done = nil, true
	return nil
}

// orLeaveOut is the other way, if the request does not name what it may not read.
func orLeaveOut(s *capturev1.ManifestSelector) string {
	if s == nil || len(s.Resources) > 0 {
		return ""
	}
	return ", or one that leaves them out by selector.onForbidden Skip"
}
