package main

import (
	"errors"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/link/fdbased"
	"gvisor.dev/gvisor/pkg/tcpip/network/arp"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
)

const nic = 1

// listenOnNetstack takes all frames of the interface, which has no address of the kernel's. The
// stack's settings are those of gVisor's sandbox runsc: SACK, receive buffers that grow, frames in
// batches (recvmmsg), and no check of received checksums, which a veth pair leaves out.
func listenOnNetstack(
	service netip.AddrPort, name string, own netip.Prefix, gateway netip.Addr,
) (net.Listener, error) {
	link, err := openLink(name)
	if err != nil {
		return nil, err
	}
	made := stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol, arp.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol},
	})
	sack, moderate := tcpip.TCPSACKEnabled(true), tcpip.TCPModerateReceiveBufferOption(true)
	failed := errors.Join(
		asError(made.SetTransportProtocolOption(tcp.ProtocolNumber, &sack)),
		asError(made.SetTransportProtocolOption(tcp.ProtocolNumber, &moderate)),
		asError(made.CreateNIC(nic, link)),
		addAddress(made, own),
		addAddress(made, netip.PrefixFrom(service.Addr(), 32)),
	)
	if failed != nil {
		return nil, failed
	}
	near, err := tcpip.NewSubnet(
		tcpip.AddrFromSlice(own.Masked().Addr().AsSlice()),
		tcpip.MaskFromBytes(net.CIDRMask(own.Bits(), 32)),
	)
	if err != nil {
		return nil, err
	}
	made.SetRouteTable([]tcpip.Route{
		{Destination: near, NIC: nic},
		{
			Destination: header.IPv4EmptySubnet,
			Gateway:     tcpip.AddrFromSlice(gateway.AsSlice()),
			NIC:         nic,
		},
	})
	where := tcpip.FullAddress{
		NIC:  nic,
		Addr: tcpip.AddrFromSlice(service.Addr().AsSlice()),
		Port: service.Port(),
	}
	return gonet.ListenTCP(made, where, ipv4.ProtocolNumber)
}

// openLink makes a link of a packet socket, which is what runsc has, too.
func openLink(name string) (stack.LinkEndpoint, error) {
	found, err := net.InterfaceByName(name)
	if err != nil {
		return nil, err
	}
	const all = unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8 // in network byte order
	socket, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, all)
	if err != nil {
		return nil, err
	}
	// What this process sends itself need not come back.
	if err := unix.SetsockoptInt(socket, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1); err != nil {
		return nil, err
	}
	at := &unix.SockaddrLinklayer{Protocol: all, Ifindex: found.Index}
	if err := unix.Bind(socket, at); err != nil {
		return nil, err
	}
	return fdbased.New(&fdbased.Options{
		FDs:                []int{socket},
		MTU:                uint32(found.MTU),
		EthernetHeader:     true,
		Address:            tcpip.LinkAddress(found.HardwareAddr),
		PacketDispatchMode: fdbased.RecvMMsg,
		RXChecksumOffload:  true,
		InterfaceIndex:     found.Index,
	})
}

func addAddress(made *stack.Stack, address netip.Prefix) error {
	return asError(made.AddProtocolAddress(nic, tcpip.ProtocolAddress{
		Protocol: ipv4.ProtocolNumber,
		AddressWithPrefix: tcpip.AddressWithPrefix{
			Address:   tcpip.AddrFromSlice(address.Addr().AsSlice()),
			PrefixLen: address.Bits(),
		},
	}, stack.AddressProperties{}))
}

// asError is needed because netstack's errors are not Go's.
func asError(problem tcpip.Error) error {
	if problem == nil {
		return nil
	}
	return errors.New(problem.String())
}
