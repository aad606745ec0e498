package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/statecraft-dev/statecraft/internal/kube/read"
)

// DryRun sends changes as dry runs with the rights of ServiceAccounts. Its client can send nothing else.
func (i Impersonator) DryRun() read.DryRun {
	return func(ctx context.Context, account read.Key, target *unstructured.Unstructured, change read.Trial) (read.Tried, error) {
		cfg, err := Impersonate(i.Config, Account(account.Namespace, account.Name))
		if err != nil {
			return read.Tried{}, err
		}
		said := &warnings{}
		cfg.WarningHandlerWithContext = said
		c, err := client.New(cfg, client.Options{Scheme: i.Scheme, Mapper: i.Mapper, DryRun: new(true)})
		if err != nil {
			return read.Tried{}, fmt.Errorf("make client of %s: %w", account, err)
		}
		err = Try(ctx, c, target, change)
		return tried(err, nameOf(target), said.all())
	}
}

// Try sends a change of an object as a dry run.
func Try(ctx context.Context, c client.Writer, target *unstructured.Unstructured, change read.Trial) error {
	if change.Delete {
		uid := target.GetUID()
		return c.Delete(ctx, target.DeepCopy(), client.DryRunAll, &client.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &uid}, GracePeriodSeconds: change.Grace,
		})
	}
	body, err := json.Marshal(change.Patch)
	if err != nil {
		return fmt.Errorf("write patch: %w", err)
	}
	return c.Patch(ctx, target.DeepCopy(), client.RawPatch(types.MergePatchType, body), client.DryRunAll)
}

// tried tells a refusal from a request that failed.
func tried(err error, what string, warned []string) (read.Tried, error) {
	_, words := refusal(err, what)
	switch {
	case err == nil:
		return read.Tried{Warnings: warned}, nil
	case apierrors.IsConflict(err): // it has changed since it was read: the next look tries again
		return read.Tried{}, fmt.Errorf("dry run: %w", err)
	case words != "":
		return read.Tried{Refusal: words, Warnings: warned}, nil
	}
	return read.Tried{}, fmt.Errorf("dry run: %w", err)
}

// mostWarnings is how many are kept.
const mostWarnings = 16

// warnings keeps what the API server warns of.
type warnings struct {
	mu   sync.Mutex
	said []string
}

var _ rest.WarningHandlerWithContext = (*warnings)(nil)

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext.
func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, code int, _ string, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if code == 299 && text != "" && len(w.said) < mostWarnings {
		w.said = append(w.said, steady(text))
	}
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.said
}
