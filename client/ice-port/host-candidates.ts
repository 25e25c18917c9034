import type { NetworkInterfaceInfo } from 'node:os';
import type { IpRange } from '../../core/model/cidr.ts';
import { type Family, familyOf } from '../family.ts';
import { type Candidate, canonicalAddress, isUsableAddress, priorityOf } from '../paths/ice/candidate.ts';

/** Bridges and cables to containers and virtual machines: their addresses are the same on many hosts. */
const VIRTUAL = /^(docker|veth|br-|virbr|cni|flannel|cali|lxc|lxdbr|podman)/;
/** More would only make checks slower. */
const MAX_HOST_CANDIDATES = 8;

/** This host's own addresses, as far as another host could reach them. */
export function hostCandidates(
  interfaces: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>,
  { overlayInterface, overlay, port }: { overlayInterface: string; overlay: readonly IpRange[]; port: number },
): readonly Candidate[] {
  const candidates: Candidate[] = [];
  for (const [name, infos] of Object.entries(interfaces)) {
    if (name === overlayInterface || VIRTUAL.test(name)) continue;
    for (const { address: text, internal } of infos ?? []) {
      const address = internal ? undefined : canonicalAddress(text);
      if (address === undefined || !isUsableAddress(address, overlay)) continue;
      candidates.push({ type: 'host', address, port, priority: priorityOf('host', address) });
    }
  }
  return candidates.slice(0, MAX_HOST_CANDIDATES);
}

/** The one for a node that can use no other beside it: IPv4 wherever the host has it, as more peers do. */
export function mainFamily(hosts: readonly Candidate[]): Family {
  const families = new Set(hosts.map(({ address }) => familyOf(address)));
  return families.has('ipv6') && !families.has('ipv4') ? 'ipv6' : 'ipv4';
}
