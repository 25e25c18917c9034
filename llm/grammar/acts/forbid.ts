import type { NetworkChange } from '../../../core/changes/changes.ts';
import type { Expectation, RecordExpectation } from '../../../core/intent/verify/expectation.ts';
import { unmetExpectations } from '../../../core/intent/verify/expectations.ts';
import { sameValue } from '../../../core/model/value.ts';
import { compile } from '../../../core/reachability/engine.ts';
import { modelOf } from '../../../core/state/network-model.ts';
import type { NetworkState } from '../../../core/state/state.ts';
import { otherPorts, portSlug, portText } from '../port-entries.ts';
import { Refusal } from '../refusal.ts';
import type { Region } from '../regions.ts';
import { everyone, type Subject, without } from '../subject.ts';
import {
  type Act,
  type Ask,
  act,
  against,
  between,
  nounsOf,
  partByPart,
  reachText,
  refuseOneself,
  selected,
  slugOf,
  write,
} from './ask.ts';

/** Forbids the sources the targets, whatever else is granted. */
export function deny(ask: Ask): Act {
  refuseOneself(ask);
  const closed = close(ask);
  // Who is outside is kept out with everyone but some, and is no part of its own.
  if ([...ask.sources, ...ask.targets].some(({ outsiders }) => outsiders.length > 0)) return closed;
  const expectations = partByPart(closed.expectations, (who, whom) => `Forbid ${who} to reach ${whom}`);
  return { ...closed, expectations };
}

/** As {@link deny}, also where a group has one member today, which reaches itself whatever is forbidden. */
export function close(ask: Ask): Act {
  return act(
    ask,
    denials(ask, 'deny'),
    between(ask, 'deny'),
    `Forbid ${nounsOf(ask.sources)} to reach ${reachText(ask)}`,
  );
}

/** As {@link deny}; what is closed already is held to stay so. */
export function denyOpen(ask: Ask): Act {
  const closed = between(ask, 'deny');
  const isClosed = unmetExpectations(closed, ask.state, compile(modelOf(ask.state, ask.now))).length === 0;
  if (!isClosed || closed.length === 0) return deny(ask);
  return act(ask, [], closed, `${nounsOf(ask.sources)} may not reach ${reachText(ask)}, as before`);
}

/** Everyone else, as sources or targets of what is forbidden. */
export function othersOf(subjects: readonly Subject[], state: NetworkState): Subject[] {
  if (subjects.some((one) => one.everyone))
    throw new Refusal('It is not clear who "only" keeps out.', ['Which peers should keep their access?']);
  return without(everyone(state), subjects, state);
}

/** What an isolation closes, where it leaves something open. */
export interface Isolation {
  readonly inbound: readonly Region[];
  readonly outbound: readonly Region[];
}

/** Cuts the targets off from everyone, in both directions, whatever else is granted. */
export function isolate(ask: Ask, parts?: Isolation): Act {
  const { targets } = ask;
  if (targets.some((target) => target.everyone || target.outsiders.length > 0)) {
    throw new Refusal('Isolating everyone would stop all traffic, and no policy could open any of it again.', [
      'Should only what some policy allows be open? Then say "deny everything by default".',
    ]);
  }
  if (targets.some(({ selector }) => selector === undefined)) {
    throw new Refusal(
      'Addresses that are no peers cannot be isolated: only their traffic with peers can be forbidden.',
      ['Who should be kept from them? Then say "block <peers> from <addresses>".'],
    );
  }
  if (parts) {
    const closed = [...parts.inbound, ...parts.outbound].flatMap((region) => between({ ...ask, ...region }, 'deny'));
    return act(ask, isolations(ask, parts), closed, `Isolate ${nounsOf(targets)}, with exceptions`);
  }
  const changes = selected(targets).map((target) =>
    write(ask, ['isolate', target.slug], {
      action: 'DENY',
      peerSelector: target.selector,
      ingress: [{}],
      egress: [{}],
    }),
  );
  const expectations = targets.flatMap(({ terms }) =>
    terms.flatMap((term): Expectation[] => [
      { src: '*', dst: term, expect: 'deny', part: `Isolate ${term}` },
      { src: term, dst: '*', expect: 'deny', part: `Isolate ${term}` },
    ]),
  );
  return act(ask, changes, expectations, `Isolate ${nounsOf(targets)} from everyone`);
}

/** Closes who is named to everyone else and everyone else to them; what they reach of each other is left as it is. */
export function isolateTogether(ask: Ask): Act {
  const { sources: together, ports, state } = ask;
  const others = othersOf(together, state);
  const parts: Isolation = {
    inbound: [{ sources: others, targets: together, ports }],
    outbound: [{ sources: together, targets: others, ports }],
  };
  const closed = [...parts.inbound, ...parts.outbound].flatMap((region) => between({ ...ask, ...region }, 'deny'));
  const on = ports.length > 0 ? ` on ${portText(ports)}; on other ports nothing changes` : '';
  const sentence = `Close ${nounsOf(together)} to everyone else, in both directions${on}`;
  return act(ask, isolations(ask, parts), closed, sentence);
}

/** One policy for each of those that are isolated, with what is closed for it. */
function isolations(ask: Ask, { inbound, outbound }: Isolation): NetworkChange[] {
  const all = selected([...inbound.flatMap((region) => region.targets), ...outbound.flatMap(({ sources }) => sources)]);
  const once = all.filter(
    ({ selector }, index) => all.findIndex((other) => sameValue(other.selector, selector)) === index,
  );
  return once.map((own) => {
    const isOwn = ({ selector }: Subject) => sameValue(selector, own.selector);
    const ingress = inbound.filter((region) => region.targets.some(isOwn));
    const egress = outbound.filter((region) => region.sources.some(isOwn));
    return write(ask, ['isolate', own.slug], {
      action: 'DENY',
      peerSelector: own.selector,
      ...(ingress.length > 0 && { ingress: ingress.map(({ sources, ports }) => against('from', sources, ports)) }),
      ...(egress.length > 0 && { egress: egress.map((region) => against('to', region.targets, region.ports)) }),
    });
  });
}

/** Closes the targets, for these sources, on every port but these. */
export function limitPorts(ask: Ask): Act {
  const { sources, targets, ports } = ask;
  const closed = { ...ask, ports: otherPorts(ports) };
  const whom = sources.some((source) => source.everyone) ? '' : ` for ${nounsOf(sources)}`;
  const changes = denials(closed, 'limit', portSlug(ports));
  return act(ask, changes, between(closed, 'deny'), `Limit ${nounsOf(targets)} to ${portText(ports)}${whom}`);
}

/** Closes the targets to everyone but the sources, and for those on every port but these. Nothing opens. */
export function limitAccess(ask: Ask): Act {
  const { sources, ports, state } = ask;
  if (sources.some((source) => source.everyone)) {
    throw new Refusal('It is not clear to whom access should be limited.', ['Which peers should keep their access?']);
  }
  const others = without(everyone(state), sources, state);
  const closed: Ask = { ...ask, sources: others, ports: [] };
  const limited = ports.length > 0 ? { ...ask, ports: otherPorts(ports) } : undefined;
  const changes = [...denials(closed, 'deny'), ...(limited ? denials(limited, 'limit', portSlug(ports)) : [])];
  const expectations = [...between(closed, 'deny'), ...(limited ? between(limited, 'deny') : [])];
  return act(
    { ...ask, sources: others },
    changes,
    expectations,
    `Limit access to ${reachText(ask)} to ${nounsOf(sources)}`,
  );
}

/** Denies by default: a base under which only what some policy allows is open. */
export function denyByDefault(ask: Ask): Act {
  const change = write(ask, ['deny-by-default'], { action: 'DENY', peerSelector: {} });
  const records: RecordExpectation[] = [{ kind: 'closed-by-default', who: '*' }];
  return { ...act(ask, [change], [], 'Deny everything that no policy allows in both directions'), records };
}

/** A DENY on each target, or on the sources where the target is no peer. */
function denials(ask: Ask, verb: string, suffix = portSlug(ask.ports)): NetworkChange[] {
  const { sources, targets, ports } = ask;
  const nameOf = (target: readonly Subject[], by: readonly Subject[]) => [
    verb,
    slugOf(by),
    'to',
    slugOf(target),
    suffix,
  ];
  // Everyone is also who is outside of the network, which only a rule on the sources says.
  const whole = (target: Subject) => target.everyone || target.outsiders.length > 0;
  const atSources = sources.every((source) => source.selector !== undefined && !whole(source));
  const inside = selected(targets.filter((target) => !(atSources && whole(target)))).map((target) =>
    write(ask, nameOf([target], sources), {
      action: 'DENY',
      peerSelector: target.selector,
      ingress: [against('from', sources, ports)],
    }),
  );
  const outside = targets.filter((target) => target.selector === undefined || (atSources && whole(target)));
  if (outside.length === 0) return inside;
  if (sources.some(({ selector }) => selector === undefined)) {
    throw new Refusal('Traffic between addresses that are no peers does not pass through the network.', [
      'Which peers are meant?',
    ]);
  }
  const leaving = selected(sources).map((source) =>
    write(ask, nameOf(outside, [source]), {
      action: 'DENY',
      peerSelector: source.selector,
      egress: [against('to', outside, ports)],
    }),
  );
  return [...inside, ...leaving];
}
