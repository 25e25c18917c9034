import { brokenAssertions } from '../assertions/guard.ts';
import { MeshError } from '../base/errors.ts';
import { newId } from '../base/ids.ts';
import type { Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import { hasEnded } from '../base/time.ts';
import { commitAt } from '../history/commits-between.ts';
import { lookUpById } from '../model/find.ts';
import { beginOf, begun } from '../model/policy-match.ts';
import type { PolicyRecord } from '../model/resources.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import { isLive } from '../state/agent-tree.ts';
import { beginsOf } from '../state/begins.ts';
import { readSetOf } from '../state/read-set.ts';
import type { NetworkServices } from '../state/services.ts';
import { afterCommit, type NetworkState } from '../state/state.ts';
import { joinGrantsOf } from './join-grants.ts';
import { beyondAuthority } from './judge.ts';
import { stateAfter } from './state-after.ts';
import { writesOf } from './writes.ts';

type Services = Pick<NetworkServices, 'store' | 'states' | 'clock'>;

/**
 * Lets the policies of a workspace begin whose time has come. What may not be any more is deleted instead, and the audit log
 * says why. Policies that one commit wrote begin together or not at all.
 *
 * @returns when the next ones begin, ms
 */
export async function beginPolicies(services: Services, workspace: string): Promise<number | undefined> {
  const { store, states, clock } = services;
  const isDue = ({ spec }: PolicyRecord) => beginOf(spec) <= clock.now();
  for (;;) {
    const hasBegun = await serialized(
      store,
      workspace,
      async () => {
        const state = await states.current(workspace);
        const [first] = [...state.waiting.values()].filter(isDue).sort((a, b) => beginOf(a.spec) - beginOf(b.spec));
        if (!first) return false;
        const together = [...state.waiting.values()].filter((one) => isDue(one) && one.revision === first.revision);
        await beginTogether(services, state, together);
        return true;
      },
      clock,
    );
    if (!hasBegun) return beginsOf(await states.current(workspace))[0];
  }
}

async function beginTogether(services: Services, state: NetworkState, policies: readonly PolicyRecord[]) {
  const { store } = services;
  const { workspace } = state;
  const commit = async (ops: readonly Op[], reason: string) => {
    const written = await commitAt(services, workspace, policies[0]?.revision ?? 0);
    await store.commit(workspace, ops, {
      actor: 'system:begin',
      reason,
      requestId: newId('r'),
      readSet: readSetOf(state),
      // Who approved that it begins is who approves the beginning.
      ...(written?.approval && { approval: written.approval }),
    });
  };
  const begins = policies.map(
    (policy): Op => ({
      op: 'update',
      record: { ...draftOf(policy), spec: begun(policy.spec) },
      revision: policy.revision,
    }),
  );
  const ends = policies.map(({ kind, name, revision }): Op => ({ op: 'delete', key: { kind, name }, revision }));
  try {
    const refusal = await refusalOf(services, state, policies, begins);
    if (refusal === undefined) return await commit(begins, 'the policy begins');
    await commit(ends, `the policy was to begin and is deleted instead: ${refusal}`);
  } catch (error) {
    if (!(error instanceof MeshError && error.code === 'payload_too_large')) throw error;
    await commit(ends, `the policy was to begin and is deleted instead: ${error.message}`);
  }
}

/** Returns why policies may not begin: it was judged when they were written, and the network has changed since. */
async function refusalOf(
  services: Services,
  state: NetworkState,
  policies: readonly PolicyRecord[],
  ops: readonly Op[],
): Promise<string | undefined> {
  const { workspace, revision } = state;
  const now = services.clock.now();
  if (policies.some(({ spec }) => hasEnded(spec, now))) return 'its time is over';
  const writes = writesOf(ops, ({ name }) => state.waiting.get(name));
  // They are due, so that every judgement takes them as begun, but for this one.
  const before = afterCommit(state, { revision, changes: policies.map((record) => ({ type: 'deleted', record })) });
  const { broken } = await brokenAssertions(services, before, stateAfter(before, writes));
  const [first] = broken;
  if (first) return `the assertion ${first.name} would fail: ${first.detail}`;
  const authors = new Set(policies.flatMap(({ annotations }) => annotations[WRITTEN_BY] ?? []));
  const joins = authors.size === 0 ? [] : await joinGrantsOf(services, workspace);
  for (const id of authors) {
    const agent = lookUpById(state.agents, id);
    if (!agent || !isLive(agent, now)) return 'the agent that wrote it has ended';
    const beyond = beyondAuthority(id, { states: services.states, state: before, writes, now, joins });
    if (beyond) return `it is beyond the agent ${beyond.agent}: ${beyond.reasons.join('; ')}`;
  }
  return undefined;
}
