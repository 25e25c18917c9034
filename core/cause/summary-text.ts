import { lineText } from '../base/as-data.ts';
import { formatInstant } from '../base/time.ts';
import type { ChangeView } from '../history/blame.ts';
import type { CauseOf } from '../history/pair/causes.ts';
import type { SoughtChange } from '../history/pair/question-reader.ts';
import type { Reading } from '../history/pair/readings.ts';
import type { AllowedPorts } from '../reachability/port-sets.ts';
import type { AccessExpiry } from './access-expiry.ts';
import type { PairOverRange, QuestionConnection, SharedFlip } from './connections.ts';
import { closes, opens } from './headline.ts';

/** `web-1 to db-1 on TCP 5432`. */
export function connectionText({ src, dst, ...scope }: QuestionConnection): string {
  return `${src.text} to ${dst.text}${portText(scope)}`;
}

/** ` on TCP 5432`; nothing where all ports are meant. */
export function portText({ protocol, port }: Pick<QuestionConnection, 'protocol' | 'port'>): string {
  const what = port === undefined ? (protocol ?? '') : `${protocol ?? 'TCP'} ${port}`;
  return what === '' ? '' : ` on ${what}`;
}

/** Returns the effect of a flip, its time and its actor, in one sentence. Names and reasons in it are data. */
export function flipText(flip: SharedFlip, asked: number, change: ChangeView | null): string {
  const { before, after, causes, pairs } = flip;
  const [was, is] = [stateText(before.reading), stateText(after.reading)];
  const what = causes.map((one) => causeText(one, flip, change)).join('; ');
  const who = change ? `, in revision ${change.revision} by ${change.actor} (${JSON.stringify(change.reason)})` : '';
  const approved = change?.reviewed_by ? `, approved by ${change.reviewed_by}` : '';
  const which = asked === 1 ? '' : ` ${pairs.length} of ${asked} connections`;
  return lineText(`${formatInstant(after.at)}:${which} from ${was} to ${is}, because ${what}${who}${approved}.`);
}

function stateText({ verdict, allowed, presence }: Reading): string {
  const isOffline = presence.src === 'offline' || presence.dst === 'offline';
  const offline = verdict !== 'unreachable' && isOffline ? ' but offline' : '';
  return verdict === 'partial' ? `partly reachable (${portsText(allowed)})${offline}` : `${verdict}${offline}`;
}

const MAX_PORTS = 5;
/** Spans of time that are told. */
const MAX_SPANS = 6;

export function portsText(allowed: AllowedPorts): string {
  if (allowed === 'ALL') return 'all ports';
  const shown = allowed.slice(0, MAX_PORTS).map(({ protocol, from, to }) => {
    if (from === undefined) return protocol;
    return to === undefined || to === from ? `${protocol} ${from}` : `${protocol} ${from}-${to}`;
  });
  return [...shown, ...(allowed.length > MAX_PORTS ? [`${allowed.length - MAX_PORTS} more`] : [])].join(', ');
}

function causeText({ cause, kind, name }: CauseOf, { after }: SharedFlip, change: ChangeView | null): string {
  const did = change?.resources.find((text) => text.endsWith(` ${kind}/${name}`))?.split(' ')[0] ?? 'changed';
  switch (cause) {
    case 'policy':
      return `policy ${name} was ${did}`;
    case 'label':
      return `${name} got other labels`;
    case 'network':
      return kind === 'MeshNetwork' ? `network ${name} was ${did}` : `${name} moved to another network`;
    case 'approval':
      return `${name} was ${after.state.peers.get(name)?.status.phase === 'ready' ? 'let in' : 'shut out'}`;
    case 'presence':
      return `${name} ${after.state.presence.get(name)?.spec.online ? 'came online' : 'went offline'}`;
    case 'expiry':
      return `the time of ${kind} ${name} was ${after.changes.length === 0 ? 'over' : 'changed or over'}`;
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
  const verdict: Reading['verdict'] = reachable === all ? 'reachable' : unreachable === all ? 'unreachable' : 'partial';
  const usable = readings.filter((one) => one.usable).length;
  if (all === 1 && first) return { verdict: first.verdict, allowed: first.allowed, usable: first.usable };
  return {
    verdict,
    usable: usable === all,
    connections: { reachable, unreachable, partial: all - reachable - unreachable, usable },
  };
}

/** The facts of a summary about a connection, or several. */
export interface SummaryFacts {
  readonly connection: string;
  readonly pairs: readonly PairOverRange[];
  readonly sought: SoughtChange | undefined;
  /** The moment that is asked about, where it is one. */
  readonly at: string | undefined;
  /** True where the question names a range of time. */
  readonly isOverTime: boolean;
  /** The {@link flipText} of the flip that answers the question, where there is one. */
  readonly headline: string | undefined;
  /** Likewise of what led to the state at the end, where that is another one. */
  readonly latest: string | undefined;
  readonly until: readonly (AccessExpiry | undefined)[];
  /** How many flips there are. */
  readonly count: number;
  /** Some connections in few words. */
  readonly sidesText: (pairs: readonly PairOverRange[]) => string;
}

/** Returns the most important facts, in some sentences. */
export function summaryText(told: SummaryFacts): string {
  const { connection, at, count, latest, sought } = told;
  const when = at === undefined ? 'at the end of the range' : `at ${at}`;
  const is = endText(told);
  if (count === 0 && sought?.change !== 'end')
    return `${connection} ${is}, and was all the time: nothing changed it in this range.`;
  const more = count > 1 ? ` ${count - 1} more ${count > 2 ? 'changes' : 'change'} of it in this range.` : '';
  const so = latest === undefined ? '' : ` What made it so: ${latest}`;
  return `${connection} ${is} ${when}.${soughtText(told)}${so}${timesText(told)}${overText(told)}${more}`;
}

function soughtText({ sought, headline, latest, until, pairs }: SummaryFacts): string {
  const isOpen = pairs.some(({ last }) => last.reading.verdict !== 'unreachable');
  if (sought?.change === 'end' && isOpen) return ` ${untilText(until)}`;
  const did = sought === undefined ? undefined : sought.change === 'opened' ? 'opened' : 'closed';
  if (headline === undefined) return ` Nothing ${did ?? 'changed'} it in this range.`;
  if (did === undefined || (latest === undefined && did === 'closed')) return ` What made it so: ${headline}`;
  return ` What ${did} it ${sought?.isFirst ? 'first' : 'last'}: ${headline}`;
}

function untilText(until: readonly (AccessExpiry | undefined)[]): string {
  const first = until.flatMap((one) => one ?? []).sort((a, b) => a.at - b.at)[0];
  if (!first) return 'No end of it is known: nothing that allows it ends by itself.';
  const whose = first.causes.map(({ kind, name }) => `${kind} ${name}`).join(' and ');
  return `It ends at ${formatInstant(first.at)}, when the time of ${whose} is over.`;
}

/** How often one connection was opened or closed, where that is asked for. */
function timesText({ sought, pairs }: SummaryFacts): string {
  const [only, other] = pairs;
  if (!only || other || sought === undefined || sought.change === 'end') return '';
  const [test, did] = sought.change === 'opened' ? [opens, 'opened'] : [closes, 'closed'];
  const times = only.flips.filter(test).length;
  return times < 2 ? '' : ` It was ${did} ${times} times.`;
}

/** Returns the states of a single connection over a range that the question names: the last spans. */
function overText({ isOverTime, sought, pairs }: SummaryFacts): string {
  const [only, other] = pairs;
  if (!isOverTime || sought !== undefined || !only || other) return '';
  const shown = only.flips.slice(-MAX_SPANS);
  const spans = shown.map(({ before, after }) => `${stateText(before.reading)} until ${formatInstant(after.at)}`);
  return ` In the range it was ${spans.join(', ')}, and ${stateText(only.last.reading)} since.`;
}

function endText({ pairs, sidesText }: SummaryFacts): string {
  const [only, more] = pairs;
  if (only && !more) return `is ${stateText(only.last.reading)}`;
  const states = [...Map.groupBy(pairs, ({ last }) => stateText(last.reading))];
  return states
    .map(([state, own]) => {
      const which = states.length > 1 ? ` (${sidesText(own)})` : '';
      return `is ${state} for ${own.length} of ${pairs.length} connections${which}`;
    })
    .join(', ');
}
