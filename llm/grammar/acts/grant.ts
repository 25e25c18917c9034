import type { NetworkChange } from '../../../core/changes/changes.ts';
import type { Expectation } from '../../../core/intent/verify/expectation.ts';
import { unmetExpectations } from '../../../core/intent/verify/expectations.ts';
import type { PolicySpec, Rule } from '../../../core/model/policy.ts';
import type { PolicyRecord } from '../../../core/model/resources.ts';
import { sameValue } from '../../../core/model/value.ts';
import { compile } from '../../../core/reachability/engine.ts';
import { modelOf } from '../../../core/state/network-model.ts';
import type { NetworkState } from '../../../core/state/state.ts';
import { loosening } from '../loosened.ts';
import { namesOf, subjectsOf } from '../names.ts';
import { among } from '../peer-entries.ts';
import { portSlug } from '../port-entries.ts';
import { enumerated, quoted, Refusal } from '../refusal.ts';
import { isolation, livePolicies, portsMeet } from '../selects.ts';
import type { Subject } from '../subject.ts';
import {
  type Act,
  type Ask,
  act,
  between,
  nounsOf,
  partByPart,
  reachText,
  refuseOneself,
  rewritten,
  rule,
  selected,
  slugOf,
  timeText,
  write,
} from './ask.ts';
import { close, othersOf } from './forbid.ts';
import { meansSome, type Side, sideOf } from './side.ts';

type Direction = 'ingress' | 'egress';
type Selected = ReturnType<typeof selected>[number];

/** Lets the sources reach the targets, and closes nothing. */
export function allow(ask: Ask): Act {
  const { sources, targets } = ask;
  refuseOneself(ask);
  refuseForbidden(ask);
  const granted = [...opened(ask, targets, sources, 'ingress'), ...opened(ask, sources, targets, 'egress')];
  const changes = isEndless(ask) ? [] : granted;
  const sentence =
    changes.length === 0
      ? `Nothing to change: ${nounsOf(sources)} may reach ${reachText(ask)} already`
      : `Let ${nounsOf(sources)} reach ${reachText(ask)}`;
  const parts = partByPart(between(ask, 'allow'), (who, whom) => `Let ${who} reach ${whom}`);
  // What is so already does not begin, and does not end.
  return act(changes.length === 0 ? { ...ask, until: undefined } : ask, changes, parts, sentence);
}

/** Whether a grant that ends would give what is open now and beyond its end. */
function isEndless(ask: Ask): boolean {
  const { state, now, until } = ask;
  if (until === undefined) return false;
  const asked = between(ask, 'allow');
  return [now, until].every((at) => unmetExpectations(asked, state, compile(modelOf(state, at))).length === 0);
}

/** Lets the sources reach the targets and nobody else; what others were granted is taken back. */
export function allowOnly(ask: Ask): Act {
  const { sources, targets } = ask;
  refuseOneself(ask);
  refuseForbidden(ask);
  if (targets.some(({ selector }) => selector === undefined)) {
    throw new Refusal('Who may reach addresses outside of the network is not known there.', [
      'Which peers should be kept from them? Then say "block <peers> from <addresses>".',
    ]);
  }
  const withdrawn = selected(targets).flatMap((target) => withdrawOthers(ask, target));
  if (withdrawn.length > 0 && ask.until !== undefined) {
    const names = withdrawn.map(({ name }) => quoted(name));
    throw new Refusal(`This would take back what ${enumerated(names)} grants, and that does not come back by itself.`, [
      'Should it be for good? Then leave the time out.',
    ]);
  }
  const grants = selected(targets).map((target) => grant(ask, target, sources, 'ingress'));
  const egress = opened(ask, sources, targets, 'egress');
  const sentence = `Let only ${nounsOf(sources)} reach ${reachText(ask)}`;
  return act(ask, [...withdrawn, ...grants, ...egress], [...between(ask, 'allow'), ...othersDenied(ask)], sentence);
}

/** As {@link allow}, and forbids everyone else these ports; what others may reach besides stays as it is. */
export function allowOnlyOnPorts(ask: Ask): Act {
  const granted = allow(ask);
  const forbidden = close({ ...ask, sources: othersOf(ask.sources, ask.state) });
  const part = `Let only ${nounsOf(ask.sources)} reach ${reachText(ask)}`;
  return {
    changes: [
      ...granted.changes,
      ...forbidden.changes.filter((one) => !granted.changes.some(({ name }) => name === one.name)),
    ],
    expectations: [...granted.expectations, ...forbidden.expectations].map((one) => ({ ...one, part })),
    summary: `Let only ${nounsOf(ask.sources)} reach ${reachText(ask)}${timeText(ask)}; on other ports nothing changes.`,
  };
}

function othersDenied({ sources, targets }: Ask): Expectation[] {
  if (sources.some(({ everyone }) => everyone)) return [];
  const except = sources.flatMap(({ terms }) => terms);
  return targets.flatMap(({ terms }) => terms.map((dst) => ({ src: '*', except, dst, expect: 'deny' as const })));
}

/**
 * Grants for the subjects that are closed in a direction. None for open ones: an ALLOW would close them to all others.
 */
function opened(
  ask: Ask,
  subjects: readonly Subject[],
  others: readonly Subject[],
  direction: Direction,
): NetworkChange[] {
  const isIsolated = isolation(ask.state, ask.now, direction);
  return subjects.flatMap((subject) => {
    const open = subject.peers.filter((peer) => !isIsolated(peer));
    if (open.length === subject.peers.length) return [];
    const names = enumerated((subject.selector ? open : subject.peers).map(({ name }) => quoted(name)));
    if (subject.selector === undefined) {
      throw new Refusal(`${quoted(subject.noun)} are addresses of peers that are closed: ${names}.`, [
        'Name the peers, or a label of theirs.',
      ]);
    }
    if (open.length > 0) {
      throw new Refusal(
        `Some of ${quoted(subject.noun)} are open to everyone today: ${names}. Granting this would close them to others.`,
        [
          direction === 'ingress'
            ? 'Should nobody else reach them? Then add "and nobody else"; or name the others one by one.'
            : 'Name the peers that should get this one by one.',
        ],
      );
    }
    return [grant(ask, subject as Selected, others, direction)];
  });
}

function grant(ask: Ask, subject: Selected, others: readonly Subject[], direction: Direction): NetworkChange {
  const { ports } = ask;
  const spec: PolicySpec =
    direction === 'ingress'
      ? { action: 'ALLOW', peerSelector: subject.selector, ingress: [rule('from', others, ports)] }
      : { action: 'ALLOW', peerSelector: subject.selector, egress: [rule('to', others, ports)] };
  const [from, to] = direction === 'ingress' ? [slugOf(others), subject.slug] : [subject.slug, slugOf(others)];
  return write(ask, ['allow', from, 'to', to, portSlug(ports), direction === 'egress' ? 'out' : ''], spec);
}

/** A DENY with rules wins over every grant, so what it forbids can only be had by changing it. */
function refuseForbidden(ask: Ask): void {
  const { state, sources, targets, ports } = ask;
  const [from, to] = [sideOf(sources), sideOf(targets)];
  const forbidding = forbiddingOf(ask);
  const [found] = forbidding;
  if (!found) return;
  const why = `The policy ${quoted(found.name)} forbids at least a part of this, and a DENY wins over every grant.`;
  const deletion = `delete the policy ${found.name}`;
  if (endOpensNoMore(found.spec, { from, to, ports }, state))
    throw new Refusal(why, [`Should it go? Then say "${deletion}" first.`], { choices: [deletion] });
  const loosened = ask.until === undefined ? loosening(forbidding, ask, state) : undefined;
  const names = enumerated(forbidding.map(({ name }) => quoted(name)));
  throw new Refusal(
    why,
    [
      `Should ${names} leave this out? To delete it would open more than is asked for. In the dashboard, check this connection under Reachability and press "Plan this change".`,
      `Or say in one message "${deletion}; only <all who may> may reach <target> on <port>", with those who keep their access and the new ones.`,
    ],
    loosened === undefined ? {} : { choices: [loosened] },
  );
}

/** The policies that forbid some of what is asked for, now. */
export function forbiddingOf({ state, now, sources, targets, ports }: Ask): PolicyRecord[] {
  const [from, to] = [sideOf(sources), sideOf(targets)];
  const forbids = ({ peers, ports: closed }: Pick<Rule, 'ports' | 'peers'>, other: Side) =>
    portsMeet(closed, ports) && (peers.length === 0 || peers.some((entry) => meansSome(entry, other, state)));
  return livePolicies(state, now).filter(({ spec }) => {
    if (spec.action !== 'DENY') return false;
    const inward = spec.ingress?.some(({ from: peers = [], ports: closed = [] }) =>
      forbids({ peers, ports: closed }, from),
    );
    const outward = spec.egress?.some(({ to: peers = [], ports: closed = [] }) =>
      forbids({ peers, ports: closed }, to),
    );
    if (!inward && !outward) return false;
    const subjects = subjectsOf(spec, namesOf(state));
    return subjects.some(({ name }) => (inward && to.names.has(name)) || (outward && from.names.has(name)));
  });
}

/** Whether all that a DENY closes is asked for, so that without it nothing opens besides. */
function endOpensNoMore(
  spec: PolicySpec,
  { from, to, ports }: { readonly from: Side; readonly to: Side; readonly ports: Ask['ports'] },
  state: NetworkState,
): boolean {
  const [one, second] = [...(spec.ingress ?? []), ...(spec.egress ?? [])];
  if (!one || second) return false;
  const entries = ('from' in one ? one.from : undefined) ?? ('to' in one ? one.to : undefined) ?? [];
  const [own, others] = spec.ingress?.length ? [to, from] : [from, to];
  const names = namesOf(state);
  return (
    entries.length > 0 &&
    (ports.length === 0 || sameValue(one.ports, ports)) &&
    subjectsOf(spec, names).every(({ name }) => own.names.has(name)) &&
    entries.every((entry) => {
      const selector = entry === '*' ? undefined : entry.peerSelector;
      return (
        selector !== undefined &&
        subjectsOf({ peerSelector: selector }, names).every(({ name }) => others.names.has(name))
      );
    })
  );
}

/** Strips from ALLOW policies on a target what they grant to anyone but the sources. */
function withdrawOthers({ state, now, sources }: Ask, target: Selected): NetworkChange[] {
  const kept = sources.flatMap(({ entries }) => entries);
  const names = new Set(target.peers.map(({ name }) => name));
  return livePolicies(state, now).flatMap((policy): NetworkChange[] => {
    const { spec } = policy;
    if (spec.action !== 'ALLOW' || !spec.ingress?.length) return [];
    const meant = subjectsOf(spec, namesOf(state));
    if (!meant.some(({ name }) => names.has(name))) return [];
    const ingress = spec.ingress.flatMap(({ from, ports }) => {
      const left = among(from ?? [], kept);
      return left.length > 0 ? [{ from: left, ...(ports && { ports }) }] : [];
    });
    if (sameValue(ingress, spec.ingress)) return [];
    const beyond = meant.filter(({ name }) => !names.has(name));
    if (beyond.length > 0) {
      const shown = enumerated(beyond.map(({ name }) => quoted(name)));
      throw new Refusal(
        `The policy ${quoted(policy.name)} grants others access to ${quoted(target.noun)} and also to ${shown}.`,
        [`Should ${quoted(policy.name)} be changed or deleted first?`],
      );
    }
    return [rewritten(policy, { ...spec, ingress })];
  });
}
