package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ErrMalformed says that a setting is not what it should be.
var ErrMalformed = errors.New("malformed configuration")

// Settings is what this program itself needs to know of a configuration.
type Settings struct {
	Dir       string // where everything lies that outlives the server
	NodesConf string // path of what the server knows of the others
	Snapshot  string // path of the file that holds all data as of some moment
	Log       string // path of the directory that holds every change; "" if none is kept
	Saves     bool   // the snapshot is renewed from time to time
	Port      string // for clients
	Timeout   time.Duration
}

// Parse reads a configuration as the server does: of a setting that is made twice
// the last one counts.
func Parse(text string) (Settings, error) {
	values := map[string]string{
		"dir": ".", "cluster-config-file": "nodes.conf", "dbfilename": "dump.rdb", "appendonly": "no", "save": "3600 1",
		"appenddirname": "appendonlydir", "port": "6379", "cluster-node-timeout": "15000",
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		directive, value, _ := strings.Cut(line, " ")
		if line != "" && !strings.HasPrefix(line, "#") {
			values[strings.ToLower(directive)] = unquoted(strings.TrimSpace(value))
		}
	}
	milliseconds, err := strconv.Atoi(values["cluster-node-timeout"])
	if err != nil || milliseconds <= 0 {
		return Settings{}, fmt.Errorf("%w: %q is no cluster-node-timeout", ErrMalformed, values["cluster-node-timeout"])
	}
	dir := values["dir"]
	s := Settings{
		Dir:       dir,
		NodesConf: filepath.Join(dir, values["cluster-config-file"]),
		Snapshot:  filepath.Join(dir, values["dbfilename"]),
		Port:      values["port"],
		Timeout:   time.Duration(milliseconds) * time.Millisecond,
		Saves:     values["save"] != "",
	}
	if strings.EqualFold(values["appendonly"], "yes") {
		s.Log = filepath.Join(dir, values["appenddirname"])
	}
	return s, nil
}

func unquoted(value string) string {
	if n := len(value); n >= 2 && value[0] == value[n-1] && (value[0] == '"' || value[0] == '\'') {
		return value[1 : n-1]
	}
	return value
}
