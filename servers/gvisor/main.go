// Program runsc is gVisor's sandbox, whole and unchanged, in the version that go.mod locks.
package main

import "gvisor.dev/gvisor/runsc/cli/maincli"

func main() {
	maincli.Main()
}
