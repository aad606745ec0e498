package kube

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/statecraft-dev/statecraft/internal/child"
)

// Conflict says that others own fields that we wanted to apply. Two controllers
// that fight over a field must be told apart by a person, so it names both.
type Conflict struct {
	Object string
	Fields []ConflictField
}

// ConflictField is one field and who owns it.
type ConflictField struct{ Manager, Field string }

// ByHand says that only people own the fields.
func (c *Conflict) ByHand() bool {
	return !slices.ContainsFunc(c.Fields, func(f ConflictField) bool { return !child.HandTool(f.Manager) })
}

func (c *Conflict) Error() string {
	var by []string
	for _, f := range c.Fields {
		by = append(by, fmt.Sprintf("%s is set by %q", f.Field, f.Manager))
	}
	return fmt.Sprintf("Others own fields of %s: %s. Remove the fields there, or delete the object.", c.Object, strings.Join(by, ", "))
}

// The server puts the manager into the message only.
var managerInMessage = regexp.MustCompile(`conflict with "([^"]*)"`)

// AsConflict finds field ownership conflicts in an error of server-side apply.
func AsConflict(err error) (*Conflict, bool) {
	status := apierrors.APIStatus(nil)
	if !errors.As(err, &status) || !apierrors.IsConflict(err) || status.Status().Details == nil {
		return nil, false
	}
	c := &Conflict{}
	for _, cause := range status.Status().Details.Causes {
		if cause.Type != metav1.CauseTypeFieldManagerConflict {
			continue
		}
		manager := cause.Message
		if m := managerInMessage.FindStringSubmatch(cause.Message); m != nil {
			manager = m[1]
		}
		c.Fields = append(c.Fields, ConflictField{Manager: manager, Field: cause.Field})
	}
	// The server lists them in any order, and the same conflict must read the same with every try.
	slices.SortFunc(c.Fields, func(a, b ConflictField) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Manager, b.Manager))
	})
	return c, len(c.Fields) > 0
}
