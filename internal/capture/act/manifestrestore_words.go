package act

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/statecraft-dev/statecraft/internal/capture/manifestrestore"
)

// words are what a result says of an error. The API server's own words quote the values that
// it refuses, so of those only the fields are named; and of a Secret nothing else is said.
func (j *restoreJob) words(item manifestrestore.Item, err error) string {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) {
		return "The API server refuses the object."
	}
	s := status.Status()
	if (apierrors.IsForbidden(err) || apierrors.IsNotFound(err)) && !secret(item) {
		return fmt.Sprintf("ServiceAccount %s of namespace %s is refused: %s.", Account, j.request.Namespace, strings.TrimRight(s.Message, ". "))
	}
	var fields []string
	if s.Details != nil {
		for _, cause := range s.Details.Causes {
			fields = append(fields, strings.TrimSpace(cause.Field+" "+string(cause.Type)))
		}
	}
	if len(fields) == 0 {
		return "The API server answers " + string(s.Reason) + "."
	}
	return "The API server answers " + string(s.Reason) + ": " + strings.Join(fields, ", ") + "."
}

func secret(item manifestrestore.Item) bool { return item.Group == "" && item.Kind == "Secret" }
