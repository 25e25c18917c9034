import type { Endpoint } from './endpoints.ts';
import { explainDirection } from './explain-direction.ts';
import {
  blockerOf,
  type ConnectivityQuery,
  type Explanation,
  type Finding,
  fail,
  pass,
  resultOf,
  type Step,
} from './explanation.ts';
import type { PortSetId } from './port-sets.ts';
import { NO_PORTS } from './port-sets.ts';
import type { Reachability } from './reachability.ts';

/** Says what decides a connection, stage by stage, from the same rows that {@link Reachability.verdict} reads. */
export function explain(reach: Reachability, query: ConnectivityQuery): Explanation {
  const { ports, endpoints } = reach.parts;
  const scope = ports.ofQuery(query.protocol, query.port);
  const src = reach.placeOf(query.src);
  const dst = reach.placeOf(query.dst);
  const from = src === undefined ? undefined : endpoints[src];
  const to = dst === undefined ? undefined : endpoints[dst];
  if (src === undefined || dst === undefined || from === undefined || to === undefined) {
    return refused([fail('known', from === undefined ? query.src : query.dst, 'PEER_NOT_FOUND')]);
  }
  const admission = admit(from, to);
  const stopped = admission.at(-1);
  if (stopped?.result === 'fail') return refused(admission);
  if (src === dst) {
    const step: Step = { ...pass('same_network', query.src), reason_code: 'SELF_TRAFFIC' };
    return {
      verdict: 'reachable',
      steps: [...admission, step],
      allowed: ports.describe(scope),
      blocked_by: [],
      would_fix: [],
    };
  }
  const granted = ports.meet(reach.pair(src, dst), scope);
  const findings = [
    boundFinding(reach, from, { place: dst, endpoint: to }, scope),
    ...(from.external ? [] : [explainDirection(reach, 'egress', from, to, scope)]),
    ...(to.external ? [] : [explainDirection(reach, 'ingress', to, from, scope)]),
  ];
  return {
    verdict: granted === NO_PORTS ? 'unreachable' : granted === scope ? 'reachable' : 'partial',
    steps: [...admission, ...findings.flatMap(({ step }) => step ?? [])],
    allowed: ports.describe(granted),
    blocked_by: findings.flatMap(({ blockers }) => blockers),
    would_fix: findings.flatMap(({ fixes }) => fixes),
  };
}

function refused(steps: readonly Step[]): Explanation {
  const last = steps.at(-1);
  const blocked_by = last ? [blockerOf(last)] : [];
  return { verdict: 'unreachable', steps, allowed: [], blocked_by, would_fix: [] };
}

/** The stages before any policy counts, up to the first that fails. */
function admit(from: Endpoint, to: Endpoint): Step[] {
  const steps: Step[] = [pass('known', from.name), pass('known', to.name)];
  for (const stage of ['approved', 'not_expired'] as const) {
    for (const { name, dead } of [from, to]) {
      const concerns =
        stage === 'approved' ? dead === 'PEER_PENDING' || dead === 'PEER_REVOKED' : dead === 'PEER_EXPIRED';
      if (dead !== undefined && concerns) return [...steps, fail(stage, name, dead)];
      steps.push(pass(stage, name));
    }
  }
  if (from === to) return steps;
  if (from.external && to.external) return [...steps, fail('same_network', to.name, 'EXTERNAL_TO_EXTERNAL')];
  if (!from.external && !to.external && from.network !== to.network) {
    return [...steps, fail('same_network', to.name, 'DIFFERENT_NETWORK')];
  }
  return [...steps, pass('same_network', to.name)];
}

function boundFinding(
  reach: Reachability,
  from: Endpoint,
  to: { readonly place: number; readonly endpoint: Endpoint },
  scope: PortSetId,
): Finding {
  if (from.bound === undefined) return { step: undefined, blockers: [], fixes: [] };
  const left = reach.parts.ports.meet(reach.boundOn(from, to.place, to.endpoint), scope);
  const result = resultOf(left, scope);
  const step: Step = {
    ...pass('delegation_bound', from.name),
    result,
    reason_code: result === 'pass' ? null : 'DELEGATION_BOUND',
  };
  return { step, blockers: result === 'pass' ? [] : [blockerOf(step)], fixes: [] };
}
