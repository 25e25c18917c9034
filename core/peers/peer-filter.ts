import { invalidInput } from '../base/errors.ts';
import { foldName } from '../base/record.ts';
import { parseInstant } from '../base/time.ts';
import { findRecord } from '../model/find.ts';
import type { PeerPhase, PeerRecord } from '../model/resources.ts';
import type { NetworkState } from '../state/state.ts';
import { termTest } from '../state/terms.ts';
import type { PeerView } from '../views/peer-view.ts';

/** Which peers a list shows; what is left out is no condition. */
export interface PeerFilter {
  readonly phase?: PeerPhase | undefined;
  /** Name or id. */
  readonly network?: string | undefined;
  /** The name begins so, in any case. */
  readonly prefix?: string | undefined;
  /** `role=web`; several apart by commas must all hold, `role!=web` holds where it is absent too. */
  readonly label?: string | undefined;
  readonly online?: boolean | undefined;
  /** Offline, and not heard of after this instant. */
  readonly offline_since?: string | undefined;
  /** Registered at this instant or after it. */
  readonly joined_since?: string | undefined;
  /** With a key from before this instant. */
  readonly key_before?: string | undefined;
}

const LABELS = /^[^!=,]+!?=[^=,]*(?:,[^!=,]+!?=[^=,]*)*$/;

/** Returns true if a text has the form of labels, such as `role=web,env!=prod`. */
export function isLabelTerm(text: string): boolean {
  return LABELS.test(text);
}

/** @throws MeshError `not_found` for an unknown network, `invalid_input` for what is no label */
export function peerFilter(
  state: NetworkState,
  asked: PeerFilter,
  viewOf: (peer: PeerRecord) => PeerView,
): (peer: PeerRecord) => boolean {
  const { phase, prefix, label, online } = asked;
  if (label !== undefined && !isLabelTerm(label)) {
    const detail = 'Write key=value, several apart by commas.';
    throw invalidInput([{ pointer: '/label', detail }], `/label: ${detail}`);
  }
  const network = asked.network === undefined ? undefined : findRecord(state.networks, 'network', asked.network).name;
  const quietSince = asked.offline_since === undefined ? undefined : parseInstant(asked.offline_since);
  const keyBefore = asked.key_before === undefined ? undefined : parseInstant(asked.key_before);
  const joinedSince = asked.joined_since === undefined ? undefined : parseInstant(asked.joined_since);
  const hasLabels = label === undefined ? () => true : termTest(label, state.peers);
  const isAsStored = (peer: PeerRecord) =>
    (phase === undefined || peer.status.phase === phase) &&
    (network === undefined || peer.spec.network === network) &&
    (prefix === undefined || foldName(peer.name).startsWith(foldName(prefix))) &&
    (joinedSince === undefined || peer.createdAt >= joinedSince) &&
    hasLabels(peer);
  const isAsShown = ({ status }: PeerView) =>
    (online === undefined || status.online === online) &&
    (quietSince === undefined || (!status.online && !isAfter(status.lastSeenAt, quietSince))) &&
    (keyBefore === undefined || parseInstant(status.keySince) < keyBefore);
  const needsView = online !== undefined || quietSince !== undefined || keyBefore !== undefined;
  return (peer) => isAsStored(peer) && (!needsView || isAsShown(viewOf(peer)));
}

function isAfter(instant: string | null, limit: number): boolean {
  return instant !== null && parseInstant(instant) > limit;
}
