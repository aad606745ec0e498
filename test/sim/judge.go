package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// judge compares the end of a run with that of the run without faults. It is asked
// again if something is on its way out: garbage collection takes its time.
func (r *run) judge(ctx context.Context, clean *run, want map[string]string) (again bool, err error) {
	found, err := r.survey(ctx)
	if err != nil {
		return false, err
	}
	again, err = r.seeOff(ctx, found)
	if err != nil {
		return false, err
	}
	return again, r.compare(found, clean, want)
}

// seeOff says that something is on its way out, and helps it: what is collected after the story has ended waits for those
// who are not there any more, as a pod does for its node.
func (r *run) seeOff(ctx context.Context, found []*unstructured.Unstructured) (leaves bool, err error) {
	if leaves = leaving(found); !leaves || r.play.Meanwhile == nil {
		return leaves, nil
	}
	if _, err := r.world.Sync(ctx, r.lab.subject.Kinds...); err != nil {
		return false, err
	}
	if _, _, err := r.play.Meanwhile(ctx); err != nil {
		return false, fmt.Errorf("meanwhile: %w", err)
	}
	return true, nil
}

func (r *run) compare(found []*unstructured.Unstructured, clean *run, want map[string]string) error {
	if r.end != "" {
		return orphans(found)
	}
	if err := r.truth(found); err != nil {
		return fmt.Errorf("end: %w", err)
	}
	state, err := r.state(found)
	if err != nil {
		return err
	}
	if d := differ(state, want); d != "" {
		return fmt.Errorf("end state:\n%s", d)
	}
	if d := differ(r.tallies(), clean.tallies()); d != "" {
		return fmt.Errorf("children made and removed: %s", d)
	}
	return nil
}

// truth says what is wrong with an end: with the story, or with a status that is
// not of the spec it stands beside.
func (r *run) truth(found []*unstructured.Unstructured) error {
	for _, obj := range found {
		observed, has, _ := unstructured.NestedInt64(obj.Object, "status", "observedGeneration")
		if has && obj.GetKind() == r.play.Main.Kind && observed != obj.GetGeneration() {
			return fmt.Errorf("%s %s is of generation %d, its status of %d", obj.GetKind(), obj.GetName(), obj.GetGeneration(), observed)
		}
	}
	return r.play.End(found)
}

// reference waits for the end of the run without faults, and reads it.
func (r *run) reference(ctx context.Context) (map[string]string, error) {
	ticker := time.NewTicker(checkEvery)
	defer ticker.Stop()
	for {
		found, err := r.survey(ctx)
		if err != nil {
			return nil, err
		}
		err = r.truth(found)
		if err == nil {
			return r.state(found)
		}
		if time.Since(r.ended) > collectedWithin {
			return nil, fmt.Errorf("end without faults: %w", err)
		}
		if _, err := r.seeOff(ctx, found); err != nil {
			return nil, err
		}
		<-ticker.C
	}
}

// failed is what went wrong in the run itself.
func (r *run) failed() error {
	if r.plan.Fault != "" && r.struck == 0 {
		return errors.New("the boundary was never reached: the story is not the same every time")
	}
	if len(r.wrong) > 0 {
		return errors.New(strings.Join(r.wrong, "; "))
	}
	return nil
}
