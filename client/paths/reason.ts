import { formatHostPort } from '../../net/host-port.ts';
import type { Family } from '../family.ts';
import type { Candidate } from './ice/candidate.ts';
import type { IcePortState, RelayState } from './local-node.ts';
import { SILENT_AFTER_SYNS } from './schedule.ts';
import type { PathReason, PathStatus } from './status.ts';

/** Facts of a pair for the reason of its state. */
export interface PairView {
  readonly direct: Candidate | undefined;
  readonly hasLeft: boolean;
  /** The direct path loses large packets, whether it is in use or not. */
  readonly isUndersized: boolean;
  readonly isProven: boolean;
  readonly isNegotiated: boolean;
  readonly isTrying: boolean;
  readonly wasLost: boolean;
  readonly syns: number;
  readonly peerCandidates: number;
  readonly tried: { readonly addresses: readonly string[]; readonly checks: number };
  readonly ownCandidates: readonly Candidate[];
  readonly canSignal: boolean;
  readonly relay: RelayState;
  readonly isPeerAtRelay: boolean;
  readonly icePort: IcePortState;
  readonly onlyFamily: Family | undefined;
}

const FOUND_AS = {
  host: 'its own address',
  srflx: 'the address that a STUN server saw',
  prflx: 'an address found by a check',
} as const;

/** Returns a code and a sentence for people; when nothing carries packets, the sentence names the relay's trouble too. */
export function reasonOf(view: PairView): PathStatus['reason'] {
  const reason = directReasonOf(view);
  if (view.direct || view.isPeerAtRelay || view.hasLeft) return reason;
  switch (view.relay.state) {
    case 'ready':
      return { ...reason, detail: `${reason.detail} The relay does not know the peer.` };
    case 'away': {
      const isSettled = reason.code === 'checks-failed' || reason.code === 'no-stun' || reason.code === 'no-candidates';
      const detail = `${reason.detail} The relay is not reached: ${view.relay.reason}.`;
      return { code: isSettled ? 'relay-away' : reason.code, detail };
    }
    case 'none':
      return { ...reason, detail: `${reason.detail} This network has no relay.` };
    default:
      return view.relay satisfies never;
  }
}

function directReasonOf(view: PairView): { readonly code: PathReason; readonly detail: string } {
  const { direct, tried } = view;
  if (direct) {
    const { address, port, type } = direct;
    const place = formatHostPort(address, port);
    const detail = `The peer answers at ${place}, ${FOUND_AS[type]}.`;
    const loss = ' Large packets are lost on this path, and no relay reaches the peer.';
    return { code: 'direct', detail: view.isUndersized ? `${detail}${loss}` : detail };
  }
  if (view.hasLeft) return { code: 'left', detail: 'The peer said that it leaves, or is no longer in the graph.' };
  if (view.icePort.obstacle !== null) return { code: 'port-not-shared', detail: view.icePort.obstacle };
  if (view.isUndersized) {
    const use = view.isPeerAtRelay ? '; using the relay' : '';
    return { code: 'large-packets', detail: `Large packets are lost on the direct path${use}.` };
  }
  if (view.isTrying) {
    const count = tried.addresses.length;
    return { code: 'checking', detail: `Checking ${count} ${count === 1 ? 'address' : 'addresses'} of the peer.` };
  }
  if (view.wasLost) {
    return { code: 'consent-lost', detail: 'The direct path stopped answering; it is tried again and again.' };
  }
  if (!view.canSignal && !view.isNegotiated) {
    return { code: 'no-bus', detail: 'The bus is away, so no connection can be negotiated.' };
  }
  if (!view.isProven && !view.isNegotiated) return unansweredReason(view.syns);
  if (!view.isNegotiated) return { code: 'signalling', detail: 'Credentials and candidates are being exchanged.' };
  if (view.peerCandidates === 0 && tried.addresses.length === 0) {
    const detail = `The peer named no address where it could be reached.${familySentence(view.onlyFamily)}`;
    return { code: 'no-candidates', detail };
  }
  if (!view.icePort.isMapped && view.ownCandidates.every(({ type }) => type === 'host')) {
    return {
      code: 'no-stun',
      detail: `No STUN server answered, so this node does not know its public address; ${checksSentence(tried)}`,
    };
  }
  const detail = `No path through NAT or firewall was found: ${checksSentence(tried)}${familySentence(view.onlyFamily)}`;
  return { code: 'checks-failed', detail };
}

function unansweredReason(syns: number): { readonly code: PathReason; readonly detail: string } {
  if (syns === 0) return { code: 'new', detail: 'The peer is new; it is about to be asked for.' };
  if (syns < SILENT_AFTER_SYNS) return { code: 'signalling', detail: 'The peer was asked to answer on the bus.' };
  return { code: 'peer-silent', detail: 'The peer does not answer on the bus; it may be off.' };
}

function familySentence(onlyFamily: Family | undefined): string {
  if (onlyFamily === undefined) return '';
  const [used, unused] = onlyFamily === 'ipv4' ? ['IPv4', 'IPv6'] : ['IPv6', 'IPv4'];
  return ` Over ${unused} nothing was tried: the wireguard-go of this node loses packets when it has ${unused} beside ${used}.`;
}

function checksSentence({ addresses, checks }: PairView['tried']): string {
  return `${checks} checks of ${addresses.join(', ') || 'no address'} stayed unanswered.`;
}
