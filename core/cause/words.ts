import { formatInstant } from '../base/time.ts';
import type { ChangeView } from '../history/pair/flip-view.ts';
import type { Flip } from '../history/pair/flips.ts';
import type { Reading } from '../history/pair/readings.ts';
import type { Allowed } from '../reachability/port-sets.ts';
import type { AskedPair } from './question.ts';

/** `web-1 to db-1 on TCP 5432`. */
export function connectionText({ src, dst, protocol, port }: AskedPair): string {
  const what = port === undefined ? (protocol ?? '') : `${protocol ?? 'TCP'} ${port}`;
  return `${src.name} to ${dst.name}${what === '' ? '' : ` on ${what}`}`;
}

/** What a flip did, when, and who did it, in one sentence. Names and reasons in it are data. */
export function flipText({ before, after, causes }: Flip, change: ChangeView | null): string {
  const [was, is] = [stateText(before.reading), stateText(after.reading)];
  const what = causes.map(({ cause, kind, name }) => causeText(cause, kind, name, change)).join('; ');
  const who = change ? `, in revision ${change.revision} by ${change.actor} (${JSON.stringify(change.reason)})` : '';
  const approved = change?.reviewed_by ? `, approved by ${change.reviewed_by}` : '';
  return `${formatInstant(after.at)}: from ${was} to ${is}, because ${what}${who}${approved}.`;
}

export function stateText({ verdict, allowed, usable }: Pick<Reading, 'verdict' | 'allowed' | 'usable'>): string {
  const offline = verdict !== 'unreachable' && !usable ? ' but offline' : '';
  return verdict === 'partial' ? `partly reachable (${portsText(allowed)})${offline}` : `${verdict}${offline}`;
}

const MAX_PORTS = 5;

function portsText(allowed: Allowed): string {
  if (allowed === 'ALL') return 'all ports';
  const shown = allowed.slice(0, MAX_PORTS).map(({ protocol, from, to }) => {
    if (from === undefined) return protocol;
    return to === undefined || to === from ? `${protocol} ${from}` : `${protocol} ${from}-${to}`;
  });
  return [...shown, ...(allowed.length > MAX_PORTS ? [`${allowed.length - MAX_PORTS} more`] : [])].join(', ');
}

function causeText(
  cause: Flip['causes'][number]['cause'],
  kind: string,
  name: string,
  change: ChangeView | null,
): string {
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
