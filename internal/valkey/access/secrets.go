package access

import (
	"fmt"
	"regexp"
	"strings"
)

// The files of a directory of users, which are keys of Secrets.
const (
	OperatorFile            = "operator-password"
	ReplicationFile         = "replication-password"
	ApplicationUserFile     = "application-username"
	ApplicationPasswordFile = "application-password"
	// RetiredFile holds what the operator's password was before: no server takes it, but for
	// one that started with older files and takes nothing else.
	RetiredFile = "operator-retired"
)

// FileNames lists them.
func FileNames() []string {
	return []string{OperatorFile, ReplicationFile, ApplicationUserFile, ApplicationPasswordFile, RetiredFile}
}

// Secrets is all that must be known to log on as anybody.
type Secrets struct {
	Operator    []Password // the newest first, as all of them
	Replication []Password
	Retired     []Password // of the operator
	// ApplicationName is "" where there is no application yet.
	ApplicationName string
	Application     []Password
}

// names are those that servers take, and that stay one word in a file of users.
var names = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}$`)

// ParseOwn reads what the operator itself keeps of a directory of users: all but the
// application.
func ParseOwn(files map[string]string) (s Secrets, err error) {
	if s.Operator, err = ParsePasswords(files[OperatorFile]); err != nil {
		return Secrets{}, fmt.Errorf("read %s: %w", OperatorFile, err)
	}
	if s.Replication, err = ParsePasswords(files[ReplicationFile]); err != nil {
		return Secrets{}, fmt.Errorf("read %s: %w", ReplicationFile, err)
	}
	if s.Retired, err = ParsePasswords(files[RetiredFile]); err != nil {
		s.Retired = nil // as before the first change
	}
	return s, nil
}

// ParseSecrets reads the files of a directory of users, by name. The application's may
// be missing, both of them.
func ParseSecrets(files map[string]string) (Secrets, error) {
	s, err := ParseOwn(files)
	if err != nil {
		return Secrets{}, err
	}
	s.ApplicationName = strings.TrimSpace(files[ApplicationUserFile])
	if s.ApplicationName == "" && strings.TrimSpace(files[ApplicationPasswordFile]) == "" {
		return s, nil
	}
	if err := CheckName(s.ApplicationName); err != nil {
		return Secrets{}, err
	}
	if s.Application, err = ParsePasswords(files[ApplicationPasswordFile]); err != nil {
		return Secrets{}, fmt.Errorf("read %s: %w", ApplicationPasswordFile, err)
	}
	return s, nil
}

// CheckName says whether an application may have this name.
func CheckName(name string) error {
	switch {
	case !names.MatchString(name):
		return fmt.Errorf("%w: %.80q is no name of a user", ErrMalformed, name)
	case name == Default, name == Operator, name == Replication, name == Files:
		return fmt.Errorf("%w: the user %s is not the application's", ErrMalformed, name)
	}
	return nil
}

// Users are all who may log on to a server of a version.
func (s Secrets) Users(version string) []User {
	users := []User{
		{Name: Operator, Rules: operatorRules(version), Passwords: hashes(s.Operator)},
		{Name: Replication, Rules: replicationRules(version), Passwords: hashes(s.Replication)},
	}
	if s.ApplicationName != "" {
		users = append(users, User{Name: s.ApplicationName, Rules: applicationRules(), Passwords: hashes(s.Application)})
	}
	return users
}
