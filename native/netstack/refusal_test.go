package main

import (
	"net/netip"
	"testing"
)

func TestRefusalQuotesThePacketToItsOwnSourceAlone(t *testing.T) {
	// The packet comes from the former address of a network that is being renumbered.
	current := netip.MustParseAddr("10.97.0.1")
	packet := make([]byte, 40)
	packet[0], packet[3], packet[9] = 0x45, 40, protocolTCP
	copy(packet[12:], own.AsSlice())
	copy(packet[16:], peer.AsSlice())
	packet[33] = tcpSYN
	refusal := refusalOf(packet, []netip.Addr{current, own})
	p, err := parsePacket(refusal)
	if err != nil || !p.isError || p.source != peer || p.destination != own || refusal[21] != prohibitedV4 {
		t.Fatalf("got %x, %v", refusal, err)
	}
	if checksum(refusal[:20], 0) != 0 || checksum(refusal[20:], 0) != 0 {
		t.Fatalf("wrong checksum in %x", refusal)
	}
	if refusalOf(packet, []netip.Addr{current, peer}) != nil || refusalOf(refusal, []netip.Addr{peer}) != nil ||
		refusalOf(packet[:19], []netip.Addr{own}) != nil {
		t.Fatal("refused what is not the node's own")
	}
}

func TestRefusalOfIPv6HasTheChecksumOfItsPseudoHeader(t *testing.T) {
	own, peer := netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fd00::2")
	packet := make([]byte, 60)
	packet[0], packet[5], packet[6] = 0x60, 20, protocolTCP
	copy(packet[8:], own.AsSlice())
	copy(packet[24:], peer.AsSlice())
	packet[53] = tcpSYN
	refusal := refusalOf(packet, []netip.Addr{own})
	p, err := parsePacket(refusal)
	if err != nil || !p.isError || p.source != peer || refusal[41] != prohibitedV6 {
		t.Fatalf("got %x, %v", refusal, err)
	}
	message := refusal[40:]
	if checksum(message, sum(refusal[8:40])+uint32(len(message))+protocolICMPv6) != 0 {
		t.Fatalf("wrong checksum in %x", refusal)
	}
}
