import { z } from 'zod';
import type { FieldError } from '../base/errors.ts';
import { foldName } from '../base/record.ts';
import { lookUp, quoted } from '../model/find.ts';
import { peerIdsOf, unknownPeersAt } from '../model/peer-lists.ts';
import { normalizeName } from '../model/resources.ts';
import { indexOfNames, nearestOf } from '../model/with-nearest.ts';
import { lookUpPeer } from '../state/find-peer.ts';
import { type NetworkState, writtenPolicies } from '../state/state.ts';
import { unknownNetworkAt } from './change-checks.ts';

const text = z.string().optional().catch(undefined);
/** Fields that are checked however wrong the rest of a document is. */
const documentSchema = z.looseObject({
  kind: z.unknown(),
  metadata: z.looseObject({ name: text }).catch({ name: undefined }),
  spec: z
    .looseObject({ network: text, parentRef: z.looseObject({ name: text }).optional().catch(undefined) })
    .catch({ network: undefined }),
});
type Document = z.output<typeof documentSchema>;

/** Finds the peers, networks and parents that a document names and nobody has, where they are named. */
export function unknownNamesFinder(state: NetworkState, all: readonly unknown[]): (document: unknown) => FieldError[] {
  const read = (document: unknown) => documentSchema.safeParse(document).data;
  const made = all.flatMap((document) => {
    const { kind, metadata } = read(document) ?? {};
    return kind === 'MeshNetwork' && metadata?.name !== undefined ? [normalizeName(metadata.name)] : [];
  });
  const networks = new Set([...state.networks.keys(), ...made]);
  const ids = peerIdsOf(state.peers);
  return (given) => {
    const document = read(given);
    switch (document?.kind) {
      case 'MeshPolicy':
        return [
          ...unknownNetwork(document, storedNetwork(document, state)),
          ...unknownPeersAt(document.spec, ids, '/spec'),
        ];
      case 'MeshPeer':
        return [...unknownPeer(document, state), ...unknownNetwork(document, undefined)];
      case 'AgentIdentity':
        return [...unknownParent(document, state), ...unknownPeersAt(document.spec, ids, '/spec')];
      default:
        return [];
    }
  };

  function unknownNetwork({ spec: { network } }: Document, held: string | undefined): FieldError[] {
    if (network === undefined || network === '' || network === held || networks.has(network)) return [];
    return [unknownNetworkAt('/spec/network', network, networks)];
  }
}

/** A policy may go on naming a network that has gone. */
function storedNetwork({ metadata: { name = '' } }: Document, state: NetworkState): string | undefined {
  return lookUp(writtenPolicies(state), name)?.spec.network;
}

const JOINS =
  'A document changes a device that has joined (mesh invite). Where it is gone, delete its document, which holds up all others; where it has another name, give the document that name.';

function unknownPeer({ metadata: { name } }: Document, state: NetworkState): FieldError[] {
  if (name === undefined || name === '' || lookUpPeer(state, name)) return [];
  const detail = `There is no peer ${quoted(name)}. ${JOINS}`;
  return [{ pointer: '/metadata/name', detail, offered: () => offering(detail, name, state.peers) }];
}

/** `self` is the agent that delegates. */
function unknownParent({ spec: { parentRef } }: Document, { agents }: NetworkState): FieldError[] {
  const { name } = parentRef ?? {};
  if (name === undefined || name === '' || foldName(name) === 'self' || lookUp(agents, name)) return [];
  const detail = `There is no agent ${quoted(name)}. A parent is there before its sub-agents: apply it first.`;
  return [{ pointer: '/spec/parentRef/name', detail, offered: () => offering(detail, name, agents) }];
}

function offering(detail: string, name: string, known: ReadonlyMap<string, unknown>): string | undefined {
  const near = nearestOf(name, indexOfNames(known)).map((one) => JSON.stringify(one));
  return near.length === 0 ? undefined : `${detail} Did you mean ${near.join(' or ')}?`;
}
