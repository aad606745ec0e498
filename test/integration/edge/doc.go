// Package edge tries what area edge knows of Flight Control on a real server, with scripted devices.
package edge
