import { lineText } from '../base/as-data.ts';
import { formatInstant } from '../base/time.ts';
import type { Cause } from '../history/pair/causes.ts';
import type { ChangeView } from '../history/pair/flip-view.ts';
import type { Reading } from '../history/pair/readings.ts';
import type { Allowed } from '../reachability/port-sets.ts';
import type { AskedConnection, PairOverRange, SharedFlip } from './connections.ts';

/** `web-1 to db-1 on TCP 5432`. */
export function connectionText({ src, dst, ...scope }: AskedConnection): string {
  return `${src.text} to ${dst.text}${portText(scope)}`;
}

/** ` on TCP 5432`; nothing where all ports are meant. */
export function portText({ protocol, port }: Pick<AskedConnection, 'protocol' | 'port'>): string {
  const what = port === undefined ? (protocol ?? '') : `${protocol ?? 'TCP'} ${port}`;
  return what === '' ? '' : ` on ${what}`;
}

/** What a flip did, when, and who did it, in one sentence. Names and reasons in it are data. */
export function flipText(flip: SharedFlip, asked: number, change: ChangeView | null): string {
  const { before, after, causes, pairs } = flip;
  const [was, is] = [stateText(before.reading), stateText(after.reading)];
  const what = causes.map(({ cause, kind, name }) => causeText(cause, kind, name, change)).join('; ');
  const who = change ? `, in revision ${change.revision} by ${change.actor} (${JSON.stringify(change.reason)})` : '';
  const approved = change?.reviewed_by ? `, approved by ${change.reviewed_by}` : '';
  const which = asked === 1 ? '' : ` ${pairs.length} of ${asked} connections`;
  return lineText(`${formatInstant(after.at)}:${which} from ${was} to ${is}, because ${what}${who}${approved}.`);
}

export function stateText({ verdict, allowed, usable }: Pick<Reading, 'verdict' | 'allowed' | 'usable'>): string {
  const offline = verdict !== 'unreachable' && !usable ? ' but offline' : '';
  return verdict === 'partial' ? `partly reachable (${portsText(allowed)})${offline}` : `${verdict}${offline}`;
}

const MAX_PORTS = 5;

export function portsText(allowed: Allowed): string {
  if (allowed === 'ALL') return 'all ports';
  const shown = allowed.slice(0, MAX_PORTS).map(({ protocol, from, to }) => {
    if (from === undefined) return protocol;
    return to === undefined || to === from ? `${protocol} ${from}` : `${protocol} ${from}-${to}`;
  });
  return [...shown, ...(allowed.length > MAX_PORTS ? [`${allowed.length - MAX_PORTS} more`] : [])].join(', ');
}

function causeText(cause: Cause, kind: string, name: string, change: ChangeView | null): string {
  const did = change?.resources.find((text) => text.endsWith(` ${kind}/${name}`))?.split(' ')[0] ?? 'changed';
  switch (cause) {
    case 'policy':
      return `policy ${name} was ${did}`;
    case 'label':
      return `${name} got other labels`;
    case 'network':
      return kind === 'MeshNetwork' ? `network ${name} was ${did}` : `${name} moved to another network`;
    case 'approval':
      return `${name} was let in or shut out`;
    case 'presence':
      return `${name} went online or offline`;
    case 'expiry':
      return `the time of ${kind} ${name} was over or was changed`;
    case 'delegation_bound':
      return `what the delegation lets it reach changed with ${kind} ${name}`;
    case 'address':
      return `${name} got another address`;
    case 'peer':
      return `peer ${name} was ${did}`;
    default:
      return cause satisfies never;
  }
}

/** How some connections were at one time, as one answer: what they have in common, and how many were what. */
export function sharedReading(readings: readonly Reading[]) {
  const [first] = readings;
  const is = (verdict: Reading['verdict']) => readings.filter((one) => one.verdict === verdict).length;
  const [reachable, unreachable] = [is('reachable'), is('unreachable')];
  const all = readings.length;
  const verdict = reachable === all ? 'reachable' : unreachable === all ? 'unreachable' : 'partial';
  const usable = readings.filter((one) => one.usable).length;
  if (all === 1 && first) return { verdict: first.verdict, allowed: first.allowed, usable: first.usable };
  return {
    verdict,
    usable: usable === all,
    connections: { reachable, unreachable, partial: all - reachable - unreachable, usable },
  };
}

/**
 * What most needs to be known, in some sentences.
 *
 * @param told what {@link flipText} says of the flip that made it so, and how many others there are
 */
export function summaryText(
  connection: string,
  pairs: readonly PairOverRange[],
  told: { readonly first: string | undefined; readonly others: number },
  knownSince: string,
): string {
  const { first, others } = told;
  const is = endText(pairs);
  if (first === undefined)
    return `${connection} ${is}, and was all the time: nothing changed it in this range.${knownSince}`;
  const more = others > 0 ? ` ${others} more ${others > 1 ? 'changes' : 'change'} of it in this range.` : '';
  return `${connection} ${is} at the end of the range. What made it so: ${first}${more}${knownSince}`;
}

function endText(pairs: readonly PairOverRange[]): string {
  const [only, more] = pairs;
  if (only && !more) return `is ${stateText(only.last)}`;
  const states = Map.groupBy(pairs, ({ last }) => stateText(last));
  return `${[...states].map(([state, own]) => `is ${state} for ${own.length} of ${pairs.length} connections`).join(', ')}`;
}
