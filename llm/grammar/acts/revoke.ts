import { type NetworkChange, planChanges } from '../../../core/changes/changes.ts';
import type { PeerEntry, PolicySpec, PortEntry } from '../../../core/model/policy.ts';
import { endOf, isolates } from '../../../core/model/policy-match.ts';
import { selectsEveryone } from '../../../core/model/selector.ts';
import { sameValue } from '../../../core/model/value.ts';
import { namesOf, subjectsOf } from '../names.ts';
import { notAmong } from '../peer-entries.ts';
import { portList } from '../port-entries.ts';
import { Refusal } from '../refusal.ts';
import { isolation, livePolicies, portsMeet } from '../selects.ts';
import type { Subject } from '../subject.ts';
import { type Act, type Ask, act, between, nounsOf, reachText, rewritten, selected } from './ask.ts';
import { deny } from './forbid.ts';
import { meansSome, type Side, sideOf } from './side.ts';

/** Takes back exactly what policies grant the sources at the targets. What isolates a target stays, so nothing opens. */
export function revoke(ask: Ask): Act {
  const { sources, targets, ports } = ask;
  if (ask.until !== undefined)
    throw new Refusal('Access is taken back for good.', ['Leave the time out, or say "deny" for a time?']);
  const taken = directionsOf(ask).flatMap(({ subject, others, direction }) =>
    takenBack(ask, subject, others, direction),
  );
  const again = new Map<string, NetworkChange>();
  for (const change of taken) {
    if (again.has(change.name)) throw new Refusal('One policy grants this in several ways.', ['Say it in two steps?']);
    again.set(change.name, change);
  }
  if (taken.length === 0 && isPartOfGrant(ask)) return deny(ask);
  if (taken.length === 0) {
    const on = ports.length > 0 ? ` on ${portList(ports)}` : '';
    const denial = `block ${nounsOf(sources)} from ${nounsOf(targets)}${on}`;
    throw new Refusal(
      `No policy grants ${nounsOf(sources)} alone access to ${reachText(ask)}, so there is nothing to take back.`,
      [`Should it be forbidden? Then say "${denial}".`],
      { choices: [denial] },
    );
  }
  return act(
    { ...ask, sources: [], targets: [] },
    withoutNeedless(taken, ask),
    between(ask, 'deny'),
    `Take back the access of ${nounsOf(sources)} to ${reachText(ask)}`,
  );
}

/** A policy whose last rule goes is deleted where others isolate all whom it isolates, for as long; else it stays and isolates. */
function withoutNeedless(changes: readonly NetworkChange[], ask: Ask): NetworkChange[] {
  const gone = new Set<string>();
  return changes.map((change) => {
    const next = deletedIfNeedless(change, gone, ask);
    if (next.action === 'delete') gone.add(next.name);
    return next;
  });
}

function deletedIfNeedless(change: NetworkChange, gone: ReadonlySet<string>, { state, now }: Ask): NetworkChange {
  if (change.action !== 'update' || change.resource !== 'MeshPolicy') return change;
  const { name, spec } = change;
  if ([...(spec.ingress ?? []), ...(spec.egress ?? [])].length > 0) return change;
  const others = livePolicies(state, now).filter(
    (one) => one.name !== name && !gone.has(one.name) && endOf(one.spec) >= endOf(spec),
  );
  const isClosedAnyway = (direction: 'ingress' | 'egress') =>
    !isolates(spec, direction) || others.some((one) => isolates(one.spec, direction) && coversAll(one.spec, spec));
  const isNeedless = isClosedAnyway('ingress') && isClosedAnyway('egress');
  return isNeedless ? { action: 'delete', resource: 'MeshPolicy', name } : change;
}

/** Tells whether a policy is about all peers of another, later ones too. */
function coversAll(wide: PolicySpec, narrow: PolicySpec): boolean {
  const isNetwork = wide.network === undefined || wide.network === narrow.network;
  return isNetwork && (selectsEveryone(wide.peerSelector) || sameValue(wide.peerSelector, narrow.peerSelector));
}

/** As {@link revoke}; where that would leave some of it open, it is forbidden. */
export function takeBack(ask: Ask): Act {
  if (ask.until !== undefined || !isGranted(ask)) return deny(ask);
  const taken = revoke(ask);
  const { after } = planChanges(ask.state, taken.changes, ask.now);
  const left = { ...ask, state: after };
  return isClosed(left) && !isGrantedAtAll(left) ? taken : deny(ask);
}

/** Whether a connection needs a grant, on either side. */
function isClosed({ state, now, sources, targets }: Ask): boolean {
  const all = (subjects: readonly Subject[], direction: 'ingress' | 'egress') =>
    subjects.every(({ peers, selector }) => selector !== undefined && peers.every(isolation(state, now, direction)));
  return all(targets, 'ingress') || all(sources, 'egress');
}

function isGranted(ask: Ask): boolean {
  return directionsOf(ask).some(
    ({ subject, others, direction }) => takenBack(ask, subject, others, direction).length > 0,
  );
}

function directionsOf({ sources, targets }: Ask) {
  return [
    ...selected(targets).map((target) => ({ subject: target, others: sources, direction: 'ingress' as const })),
    ...selected(sources).map((source) => ({ subject: source, others: targets, direction: 'egress' as const })),
  ];
}

/** Whether policies grant it as a part of something wider, which then has to stay for the others. */
function isPartOfGrant(ask: Ask): boolean {
  return ![...ask.sources, ...ask.targets].some(({ everyone }) => everyone) && isGrantedAtAll(ask);
}

/** Whether some policy grants some of it, to these or to more. */
function isGrantedAtAll({ state, now, sources, targets, ports }: Ask): boolean {
  const [from, to] = [sideOf(sources), sideOf(targets)];
  return livePolicies(state, now).some(({ spec }) => {
    if (spec.action !== 'ALLOW') return false;
    const subjects = subjectsOf(spec, namesOf(state));
    const meets = (entries: readonly PeerEntry[] | undefined, other: Side, own: Side, on: readonly PortEntry[] = []) =>
      portsMeet(on, ports) &&
      (!entries?.length || entries.some((entry) => meansSome(entry, other, state))) &&
      subjects.some(({ name }) => own.names.has(name));
    return (
      spec.ingress?.some((one) => meets(one.from, from, to, one.ports)) ||
      spec.egress?.some((one) => meets(one.to, to, from, one.ports))
    );
  });
}

function takenBack(
  { state, now, ports }: Ask,
  subject: Subject,
  others: readonly Subject[],
  direction: 'ingress' | 'egress',
): NetworkChange[] {
  const entries = others.flatMap((other) => other.entries);
  const everyone = others.some((other) => other.everyone);
  return livePolicies(state, now).flatMap((policy): NetworkChange[] => {
    const { spec } = policy;
    if (spec.action !== 'ALLOW' || !sameValue(spec.peerSelector ?? {}, subject.selector)) return [];
    const concerns = (own: readonly PortEntry[] | undefined) => ports.length === 0 || samePorts(own, ports);
    if (direction === 'ingress') {
      const ingress = spec.ingress?.flatMap((one) => {
        if (!concerns(one.ports)) return [one];
        if (everyone) return [];
        const from = one.from && notAmong(one.from, entries);
        return one.from?.length && !from?.length ? [] : [{ ...one, ...(from && { from }) }];
      });
      return !ingress || sameValue(ingress, spec.ingress) ? [] : [rewritten(policy, { ...spec, ingress })];
    }
    const egress = spec.egress?.flatMap((one) => {
      if (!concerns(one.ports)) return [one];
      const to = one.to && notAmong(one.to, entries);
      return one.to?.length && !to?.length ? [] : [{ ...one, ...(to && { to }) }];
    });
    return !egress || sameValue(egress, spec.egress) ? [] : [rewritten(policy, { ...spec, egress })];
  });
}

function samePorts(a: readonly PortEntry[] | undefined, b: readonly PortEntry[]): boolean {
  const shape = (ports: readonly PortEntry[]) =>
    ports.map(({ protocol = 'TCP', ...rest }) => JSON.stringify({ protocol, ...rest })).sort();
  return sameValue(shape(a ?? []), shape(b));
}
