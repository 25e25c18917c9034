package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"

	"golang.zx2c4.com/wireguard/tun"
	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/link/channel"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv6"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/icmp"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/tcpip/transport/udp"
)

const (
	nic       = 1
	linkQueue = 1024

	minBuffer     = 4096
	defaultBuffer = 256 << 10
	maxBuffer     = 4 << 20
)

// The TCP/IP of a node in place of a TUN interface: both of its ends. Every packet passes the filter.
type link struct {
	endpoint *channel.Endpoint
	stack    *stack.Stack
	filter   *filter
	events   chan tun.Event
	mtu      int
	context  context.Context
	cancel   context.CancelFunc
}

func newLink(mtu int, filter *filter) (*link, error) {
	l := &link{
		endpoint: channel.New(linkQueue, uint32(mtu), ""),
		stack: stack.New(stack.Options{
			NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol, ipv6.NewProtocol},
			TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol, udp.NewProtocol, icmp.NewProtocol4, icmp.NewProtocol6},
			HandleLocal:        true,
		}),
		filter: filter,
		events: make(chan tun.Event, 1),
		mtu:    mtu,
	}
	l.context, l.cancel = context.WithCancel(context.Background())
	sack, recovery, congestion := tcpip.TCPSACKEnabled(true), tcpip.TCPRecovery(0), tcpip.CongestionControlOption("cubic")
	receive := tcpip.TCPReceiveBufferSizeRangeOption{Min: minBuffer, Default: defaultBuffer, Max: maxBuffer}
	send := tcpip.TCPSendBufferSizeRangeOption{Min: minBuffer, Default: defaultBuffer, Max: maxBuffer}
	for _, option := range []tcpip.SettableTransportProtocolOption{&sack, &recovery, &congestion, &receive, &send} {
		if err := l.stack.SetTransportProtocolOption(tcp.ProtocolNumber, option); err != nil {
			return nil, fmt.Errorf("%T: %v", option, err)
		}
	}
	if err := l.stack.CreateNIC(nic, l.endpoint); err != nil {
		return nil, fmt.Errorf("NIC: %v", err)
	}
	l.stack.SetRouteTable([]tcpip.Route{
		{Destination: header.IPv4EmptySubnet, NIC: nic},
		{Destination: header.IPv6EmptySubnet, NIC: nic},
	})
	l.events <- tun.EventUp
	return l, nil
}

func (l *link) addAddress(address netip.Addr) error {
	err := l.stack.AddProtocolAddress(nic, tcpip.ProtocolAddress{
		Protocol:          networkOf(address),
		AddressWithPrefix: tcpip.AddrFromSlice(address.AsSlice()).WithPrefix(),
	}, stack.AddressProperties{})
	if err != nil {
		return fmt.Errorf("address %v: %v", address, err)
	}
	return nil
}

func (l *link) removeAddress(address netip.Addr) {
	_ = l.stack.RemoveAddress(nic, tcpip.AddrFromSlice(address.AsSlice()))
}

func networkOf(address netip.Addr) tcpip.NetworkProtocolNumber {
	if address.Is4() {
		return ipv4.ProtocolNumber
	}
	return ipv6.ProtocolNumber
}

func fullAddress(address netip.Addr, port uint16) tcpip.FullAddress {
	return tcpip.FullAddress{NIC: nic, Addr: tcpip.AddrFromSlice(address.AsSlice()), Port: port}
}

func (l *link) Read(bufs [][]byte, sizes []int, offset int) (int, error) {
	for {
		packet := l.endpoint.ReadContext(l.context)
		if packet == nil {
			return 0, os.ErrClosed
		}
		count := 0
		for ; packet != nil; packet = l.endpoint.Read() {
			view := packet.ToView()
			packet.DecRef()
			if l.filter.judge(view.AsSlice(), false) {
				sizes[count] = copy(bufs[count][offset:], view.AsSlice())
				count++
			}
			view.Release()
			if count == len(bufs) {
				break
			}
		}
		if count > 0 {
			return count, nil
		}
	}
}

func (l *link) Write(bufs [][]byte, offset int) (int, error) {
	for _, one := range bufs {
		bytes := one[offset:]
		if !l.filter.judge(bytes, true) {
			continue
		}
		protocol := header.IPv4ProtocolNumber
		if bytes[0]>>4 == 6 {
			protocol = header.IPv6ProtocolNumber
		}
		packet := stack.NewPacketBuffer(stack.PacketBufferOptions{Payload: buffer.MakeWithData(bytes)})
		l.endpoint.InjectInbound(protocol, packet)
		packet.DecRef()
	}
	return len(bufs), nil
}

func (l *link) Close() error {
	if l.context.Err() != nil {
		return nil
	}
	l.cancel()
	l.stack.RemoveNIC(nic)
	l.stack.Close()
	l.endpoint.Close()
	close(l.events)
	return nil
}

func (l *link) File() *os.File           { return nil }
func (l *link) MTU() (int, error)        { return l.mtu, nil }
func (l *link) Name() (string, error)    { return "netstack", nil }
func (l *link) Events() <-chan tun.Event { return l.events }
func (l *link) BatchSize() int           { return batchSize }
