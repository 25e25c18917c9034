import { MeshError } from '../base/errors.ts';
import type { Op } from '../base/ports.ts';
import { lookUp } from '../model/find.ts';
import { peerIdsOf, withPeerIds } from '../model/peer-lists.ts';
import { type AgentRecord, normalizeName } from '../model/resources.ts';
import { isLive } from '../state/agent-tree.ts';
import { type AgentManifest, isAsWritten } from './agent-manifest.ts';
import { DELEGATES, MAKES_ROOT_AGENTS } from './agent-request.ts';
import { type AgentCall, type NewAgent, newRootAgent, newSubAgent, ownAgent } from './agents.ts';
import { requireScope } from './grants.ts';
import { refuseDoubles } from './refuse-doubles.ts';
import { withDocument } from './with-document.ts';

/** The result of one document. Only the answer that makes a token shows it. */
export type AgentResult =
  | { readonly name: string; readonly result: 'unchanged' }
  | { readonly name: string; readonly result: 'created'; readonly token: string; readonly expiresAt: string }
  | { readonly name: string; readonly result: 'created'; readonly enrollmentToken: string; readonly expiresAt: string };

export interface AgentsToApply {
  readonly ops: readonly Op[];
  readonly applied: readonly AgentResult[];
}

/**
 * The identities that documents ask for, made as `create_agent` and `delegate_agent` make them. One that is there as it is
 * written is left alone; an identity is never changed.
 *
 * @param at where a document stands in the request
 * @throws MeshError as those operations do; `conflict` for a change of an identity
 */
export async function applyAgents(
  context: AgentCall,
  manifests: readonly AgentManifest[],
  at: (index: number) => string,
): Promise<AgentsToApply> {
  refuseDoubles('agent', manifests, at);
  const { services, workspace } = context;
  const { agents, peers } = await services.states.current(workspace);
  const ops: Op[] = [];
  const applied: AgentResult[] = [];
  for (const [index, manifest] of manifests.entries()) {
    const { metadata } = manifest;
    await withDocument(`${at(index)}/spec`, `AgentIdentity ${metadata.name}`, () => requireVisible(context, manifest));
    const stored = lookUp(agents, normalizeName(metadata.name));
    const spec = withPeerIds(manifest.spec, peerIdsOf(peers), `${at(index)}/spec`);
    if (isThere(stored, manifest, spec, services.clock.now())) {
      applied.push({ name: stored.name, result: 'unchanged' });
      continue;
    }
    const made = await withDocument(`${at(index)}/spec`, `AgentIdentity ${metadata.name}`, () =>
      newAgent(context, manifest),
    );
    ops.push(...made.ops);
    const { name, token, expiresAt } = made;
    const shown = 'parentRef' in manifest.spec ? { enrollmentToken: token } : { token };
    applied.push({ name, result: 'created', ...shown, expiresAt });
  }
  return { ops, applied };
}

/** @throws MeshError `conflict` where the identity is there and differs, or is not the one that the document is about */
function isThere(
  stored: AgentRecord | undefined,
  manifest: AgentManifest,
  spec: AgentManifest['spec'],
  now: number,
): stored is AgentRecord {
  const { name, uid } = manifest.metadata;
  if (uid !== undefined && stored?.uid !== uid) {
    throw new MeshError(
      'conflict',
      `There is no agent ${name} with the id ${uid}: leave metadata.uid out to make one.`,
    );
  }
  if (!stored || (uid === undefined && !isLive(stored, now))) return false;
  if (isAsWritten(stored, manifest, spec)) return true;
  throw new MeshError(
    'conflict',
    `The agent ${stored.name} is there already, and an identity is not changed: revoke it (DELETE /api/v1/agents/${stored.name}) and apply it again.`,
  );
}

/** Requires that the caller may read or make the identity: no answer tells anybody else whether it exists. */
async function requireVisible(context: AgentCall, { spec }: AgentManifest): Promise<void> {
  if (context.caller.scopesIn(context.workspace).has('network:read')) return;
  if (!('parentRef' in spec)) return requireScope(context, MAKES_ROOT_AGENTS);
  requireScope(context, DELEGATES);
  await ownAgent(context, spec.parentRef.name);
}

function newAgent(context: AgentCall, { metadata, spec }: AgentManifest): Promise<NewAgent> {
  const { name, labels, annotations } = metadata;
  if ('parentRef' in spec) {
    if (context.caller.kind === 'agent') requireScope(context, DELEGATES);
    const { parentRef, ...request } = spec;
    return newSubAgent(context, parentRef.name, { name, labels, annotations, ...request });
  }
  if (context.caller.kind === 'user') requireScope(context, MAKES_ROOT_AGENTS);
  return newRootAgent(context, { name, labels, annotations, ...spec });
}
