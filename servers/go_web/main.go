// Program go-web is an HTTP server of Go's net/http, on one of two stacks: the kernel's, or gVisor's
// netstack in this process, on a packet socket. All else is the same.
//
// Usage: go-web kernel|netstack BODY COUNTER ADDRESS:PORT [INTERFACE OWN-ADDRESS/BITS GATEWAY]
//
// BODY: bytes of each response's body. COUNTER: a UNIX socket, there once the server listens, which
// answers each connection with the number of requests so far. The last three are for netstack.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"sync/atomic"
)

func main() {
	log.SetFlags(0)
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(arguments []string) error {
	if len(arguments) < 4 {
		return fmt.Errorf("usage: go-web kernel|netstack BODY COUNTER ADDRESS:PORT [LINK...]")
	}
	length, err := strconv.Atoi(arguments[1])
	if err != nil {
		return err
	}
	listener, err := listen(arguments[0], arguments[3], arguments[4:])
	if err != nil {
		return err
	}
	var requests atomic.Uint64
	counter, err := net.Listen("unix", arguments[2])
	if err != nil {
		return err
	}
	go tell(counter, &requests)
	body := make([]byte, length)
	return http.Serve(listener, http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		header := to.Header()
		header.Set("Content-Type", "application/octet-stream")
		header.Set("Content-Length", arguments[1])
		to.Write(body)
	}))
}

func listen(stack, where string, link []string) (net.Listener, error) {
	if stack == "kernel" {
		return net.Listen("tcp4", where)
	}
	if stack != "netstack" || len(link) != 3 {
		return nil, fmt.Errorf("no stack, or no link: %s %v", stack, link)
	}
	service, err := netip.ParseAddrPort(where)
	if err != nil {
		return nil, err
	}
	own, err := netip.ParsePrefix(link[1])
	if err != nil {
		return nil, err
	}
	gateway, err := netip.ParseAddr(link[2])
	if err != nil {
		return nil, err
	}
	return listenOnNetstack(service, link[0], own, gateway)
}

// tell answers each who connects with the number of requests.
func tell(counter net.Listener, requests *atomic.Uint64) {
	for {
		asker, err := counter.Accept()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Fprint(asker, requests.Load())
		asker.Close()
	}
}
