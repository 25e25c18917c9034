import { joined, newcomer } from '../../authority/newcomers.ts';
import { type Effect, effectOf } from '../../effect/effect.ts';
import { type PortSpan, spanText } from '../../effect/port-spans.ts';
import { type IpRange, overlaps, parseAddress, parseCidr } from '../../model/cidr.ts';
import { rulesOf } from '../../model/policy.ts';
import { addressText } from '../../model/ranges.ts';
import type { NetworkRecord, PeerRecord } from '../../model/resources.ts';
import type { NetworkState } from '../../state/state.ts';
import type { NetworkStates } from '../../state/states.ts';

/** Addresses at which a device that joins is tried: one of each stretch that policies tell apart. */
const MAX_STRETCHES = 512;
/** Connections that are named as examples. */
const MAX_EXAMPLES = 3;

/** What a change opens from and to devices that join later with no labels; undefined where that cannot be tried. */
export interface Joining {
  readonly effect: Pick<Effect, 'groups' | 'outside'>;
  /** As sentences; names in them are data. */
  readonly texts: readonly string[];
}

export function joiningOf(
  { before, after, now }: { readonly before: NetworkState; readonly after: NetworkState; readonly now: number },
  states: Pick<NetworkStates, 'reachability'>,
): Joining | undefined {
  const isTouched = (['peers', 'policies', 'networks'] as const).some((kind) => before[kind] !== after[kind]);
  if (!isTouched) return { effect: { groups: [], outside: [] }, texts: [] };
  const networks = [...before.networks.values()].filter(({ name }) => after.networks.has(name));
  const blocks = [before, after].flatMap(blocksOf);
  const stretches = networks.map((network) => ({ network, starts: startsOf(network, blocks) }));
  if (stretches.reduce((sum, { starts }) => sum + starts.length, 0) > MAX_STRETCHES) return undefined;
  const newcomers = stretches.flatMap(({ network, starts }) => {
    const where = networks.length > 1 ? ` in ${network.name}` : '';
    const anywhere = [`every device that joins later${where}`, `every other device that joins later${where}`];
    return [
      ...anywhere.map((name) => newcomer({ name, network: network.name }, before)),
      ...freeAddresses(network, starts, [before, after]).map((at) =>
        newcomer({ name: `a device that joins later${where} at ${at}`, network: network.name, address: at }, before),
      ),
    ];
  });
  const names = new Set(newcomers.map(({ name }) => name));
  const whole = effectOf(
    states.reachability(joined(before, newcomers), now),
    states.reachability(joined(after, newcomers), now),
  );
  const isNew = (name: string) => names.has(name);
  const groups = whole.groups.filter(
    ({ src, dst, opened }) => opened.length > 0 && (src.some(isNew) || dst.some(isNew)),
  );
  const outside = whole.outside?.filter(({ peers, opened }) => opened.length > 0 && peers.some(isNew));
  return { effect: { groups, outside }, texts: textsOf({ groups, outside }, isNew) };
}

function textsOf({ groups, outside = [] }: Joining['effect'], isNew: (name: string) => boolean): string[] {
  const texts = new Set<string>();
  const say = (src: readonly string[], dst: readonly string[], ports: readonly PortSpan[]) => {
    const [from, to] = [partOf(src, isNew), partOf(dst, isNew)];
    const other = to.find((name) => name !== from[0]);
    if (from[0] === undefined || other === undefined) return;
    const more = isNew(other) ? [] : to.slice(1);
    texts.add(`${listed(from)} reaches ${listed([other, ...more])} on ${spanText(ports)}`);
  };
  for (const { src, dst, opened } of groups) {
    if (src.some(isNew)) say(src.filter(isNew).slice(0, 1), dst, opened);
    else say(src, dst.filter(isNew), opened);
  }
  for (const { side, names, peers, opened } of outside) {
    const [from, to] = side === 'src' ? [names, peers.filter(isNew)] : [peers.filter(isNew).slice(0, 1), names];
    say(from, to, opened);
  }
  const all = [...texts];
  const left = all.length - MAX_EXAMPLES;
  return left > 0 ? [...all.slice(0, MAX_EXAMPLES), `and so for ${left} more`] : all;
}

/** Of those that are there and those that are not, who is named: those that are there, if any. */
function partOf(names: readonly string[], isNew: (name: string) => boolean): readonly string[] {
  const there = names.filter((name) => !isNew(name));
  return there.length > 0 ? there : names;
}

function listed([first = '', ...more]: readonly string[]): string {
  return more.length > 0 ? `${first} and ${more.length} more` : first;
}

/** Where each stretch of a network begins that blocks of policies tell apart; none where no block is in it. */
function startsOf({ spec }: NetworkRecord, blocks: readonly IpRange[]): bigint[] {
  const whole = parseCidr(spec.cidr);
  const inside = blocks.filter((block) => whole && overlaps(whole, block));
  if (!whole || inside.length === 0) return [];
  const edges = inside.flatMap(({ from, to }) => [from, to + 1n]).filter((at) => at > whole.from && at <= whole.to);
  return [...new Set([whole.from, ...edges])].sort((a, b) => (a < b ? -1 : 1));
}

function freeAddresses({ spec }: NetworkRecord, starts: readonly bigint[], states: readonly NetworkState[]): string[] {
  const whole = parseCidr(spec.cidr);
  if (!whole || starts.length === 0) return [];
  const taken = new Set(states.flatMap(({ peers }) => [...peers.values()].map(addressOf)));
  return starts.flatMap((start, index) => {
    const end = starts[index + 1] ?? whole.to + 1n;
    for (let at = start; at < end; at++) if (!taken.has(at)) return [addressText(whole.family, at)];
    return [];
  });
}

function blocksOf({ policies }: NetworkState): IpRange[] {
  return [...policies.values()].flatMap(({ spec }) =>
    (['ingress', 'egress'] as const).flatMap((direction) =>
      (rulesOf(spec, direction) ?? []).flatMap(({ peers }) =>
        peers.flatMap((entry) => {
          if (entry === '*' || !entry.ipBlock) return [];
          return [entry.ipBlock.cidr, ...(entry.ipBlock.except ?? [])].flatMap((text) => parseCidr(text) ?? []);
        }),
      ),
    ),
  );
}

function addressOf({ status }: PeerRecord): bigint | undefined {
  return status.address === null ? undefined : parseAddress(status.address)?.from;
}
