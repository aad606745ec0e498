package read

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestSaysGone(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	gone := apierrors.NewNotFound(pods, "a")
	unserved := apierrors.NewGenericServerResponse(404, "get", pods, "a", "404 page not found", 0, true)
	for what, c := range map[string]struct {
		err  error
		name string
		want bool
	}{
		"a 404 that names it":      {fmt.Errorf("read: %w", gone), "a", true},
		"a 404 that names another": {gone, "b", false},
		"a kind that is not there": {unserved, "a", false},
		"no name":                  {apierrors.NewNotFound(pods, ""), "", false},
		"forbidden":                {apierrors.NewForbidden(pods, "a", nil), "a", false},
		"anything else":            {errors.New("connection refused"), "a", false},
		"no error":                 {nil, "a", false},
	} {
		if got := SaysGone(c.err, c.name); got != c.want {
			t.Errorf("%s: %v", what, got)
		}
	}
}
