import { createHash } from 'node:crypto';
import { workspaceById } from '../identity/workspaces.ts';
import { type ChangePlan, type NetworkChange, planChanges } from '../network/changes.ts';
import type { NetworkRecord, PeerRecord, PolicyRecord } from '../network/resources.ts';
import { restingAddresses } from '../network/rest.ts';
import type { NetworkState } from '../network/state.ts';
import type { Op } from '../ports.ts';
import type { Services } from '../services.ts';
import { type BrokenAssertion, brokenAssertions } from './broken-assertions.ts';
import { diffMarkdown, type ShownChange } from './diff-markdown.ts';
import { type Effect, effectOf } from './effect.ts';
import { type Unmet, unmetExpectations } from './expectations.ts';
import type { Expectation } from './planner.ts';
import { resourceYaml } from './render-yaml.ts';
import { type Risk, riskOf } from './risk.ts';
import { warningsOf } from './warnings.ts';

/** Changes that are to be judged, and what they are meant to achieve. */
export interface Proposal {
  readonly changes: readonly NetworkChange[];
  readonly expectations: readonly Expectation[];
  readonly summary: string;
}

/** What would become of a proposal on one state at one instant. */
export interface Assessment {
  readonly state: NetworkState;
  readonly ops: readonly Op[];
  readonly outcomes: ChangePlan['outcomes'];
  readonly shown: readonly ShownChange[];
  readonly effect: Effect;
  readonly risk: Risk;
  readonly warnings: readonly string[];
  readonly unmet: readonly Unmet[];
  /** Standing assertions of the workspace that the change would break. */
  readonly broken: readonly BrokenAssertion[];
  readonly diffMarkdown: string;
  /** Binds what was shown: the same changes of the same resources with the same effect. */
  readonly digest: string;
}

/**
 * Simulates a proposal on the newest state: the one judgement behind plans, their application and their execution.
 *
 * @throws MeshError as `planChanges` does, when the changes cannot be made.
 */
export async function assess(
  services: Pick<Services, 'store' | 'states' | 'clock'>,
  workspace: string,
  { changes, expectations, summary }: Proposal,
  agentId?: string,
): Promise<Assessment> {
  const { store, states, clock } = services;
  const [state, resting, record] = await Promise.all([
    states.current(workspace),
    restingAddresses(store, workspace),
    workspaceById(services, workspace),
  ]);
  const now = clock.now();
  const { ops, after, outcomes } = planChanges(state, changes, now, resting);
  const [was, is] = [states.reachability(state, now), states.reachability(after, now)];
  const effect = effectOf(was, is);
  const shown = changes.flatMap((change, index) => {
    const { outcome, name } = outcomes[index] ?? {};
    return outcome === 'unchanged' || name === undefined
      ? []
      : [shownChange(change, name, state, after, record.spec.namespace)];
  });
  const caller = [...state.agents.values()].find(({ uid }) => uid === agentId)?.status.peerRef;
  const risk = riskOf(effect, state, after, caller);
  const broken = await brokenAssertions(services, state, after);
  const warnings = [
    ...warningsOf(changes, after),
    ...broken.map(
      ({ name, src, dst, expect }) =>
        `The assertion ${name} would fail: ${src} to ${dst} must ${expect === 'allow' ? 'be open' : 'be closed'}.`,
    ),
  ];
  return {
    state,
    ops,
    outcomes,
    shown,
    effect,
    risk,
    warnings,
    unmet: unmetExpectations(expectations, after, is),
    broken,
    diffMarkdown: diffMarkdown(summary, shown, effect, risk, warnings),
    digest: createHash('sha256')
      .update(JSON.stringify([effect.digest, shown]))
      .digest('hex'),
  };
}

function shownChange(
  { action, resource }: NetworkChange,
  name: string,
  state: NetworkState,
  after: NetworkState,
  namespace: string,
): ShownChange {
  const yaml = (of: NetworkState) => resourceYaml(recordOf(of, resource, name), namespace);
  return { action, resource, name, before: yaml(state), after: yaml(after) };
}

function recordOf(
  state: NetworkState,
  resource: NetworkChange['resource'],
  name: string,
): PolicyRecord | NetworkRecord | PeerRecord | undefined {
  switch (resource) {
    case 'MeshPolicy':
      return state.policies.get(name);
    case 'MeshNetwork':
      return state.networks.get(name);
    case 'MeshPeer':
      return state.peers.get(name);
    default:
      return resource satisfies never;
  }
}
