import { invalidInput } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import { formatInstant } from '../base/time.ts';
import { type ConnectionHistoryQuestion, positionOf, rangeView } from '../history/pair/connection-history.ts';
import { changeView, commitOf } from '../history/pair/flip-view.ts';
import { type Flip, pairHistory } from '../history/pair/flips.ts';
import { identityOf, statesOf } from '../history/pair/identity.ts';
import { pairRecords } from '../history/pair/pair-records.ts';
import { type Range, rangeOf } from '../history/pair/range.ts';
import { judgeOf, sameReading } from '../history/pair/readings.ts';
import { readingView } from '../history/pair/timeline.ts';
import { resourceChanges } from '../history/resource-changes.ts';
import type { ComputeServices } from '../intent/plan/services.ts';
import type { PeerRecord } from '../model/resources.ts';
import { type AskedPair, pairInQuestion } from './question.ts';
import { type Restore, restoreOf } from './restore.ts';
import { connectionText, flipText, stateText } from './words.ts';

export interface CauseQuestion extends Omit<ConnectionHistoryQuestion, 'src' | 'dst'> {
  /** In plain words; or else both ends. */
  readonly question?: string | undefined;
  readonly src?: string | undefined;
  readonly dst?: string | undefined;
}

/** Findings that carry a plan: each takes a proof over the whole network. */
const MAX_PLANS = 3;

/**
 * Every flip of the connection that a question is about, the one that matters most first: that which made it what it is at
 * the end of the range; then the others, newest first. The first ones carry a proven plan that takes them back.
 *
 * @throws MeshError as `rangeOf`, `identityOf` and `pairInQuestion` do
 */
export async function findCause(context: CallContext<ComputeServices>, given: CauseQuestion) {
  const { services, workspace } = context;
  const position = positionOf(given.cursor);
  const to = given.to ?? (position && formatInstant(position.to));
  const range = await rangeOf(services, workspace, { from: given.from, to });
  const asked = await askedPair(context, given, range);
  const records = await pairRecords(services, workspace, asked, range);
  const { first, flips } = pairHistory(records, range.since, asked);
  const ranked = rankedFlips(flips);
  const begin = position?.index ?? 0;
  const shown = ranked.slice(begin, begin + given.limit);
  const state = await services.states.current(workspace);
  const now = judgeOf(asked)(state, services.clock.now());
  const last = flips.at(-1)?.after.reading ?? first.reading;
  const findings = [];
  for (const [index, flip] of shown.entries()) {
    const commit = await commitOf(services, workspace, flip.after);
    const change = commit ? await changeView(services, commit) : null;
    const restore = await restoreFor(begin + index, flip);
    findings.push({
      rank: begin + index + 1,
      at: formatInstant(flip.after.at),
      before: readingView(flip.before.reading),
      after: {
        ...readingView(flip.after.reading),
        blocked_by: flip.after.reading.blocked_by.map((one) => ({ ...one })),
      },
      causes: [...flip.causes],
      change: change && { ...change, changed: commit ? resourceChanges(commit) : [] },
      sentence: flipText(flip, change),
      restore: 'plan' in restore ? restoreView(restore.plan) : null,
      no_restore: 'none' in restore ? restore.none : null,
    });
  }
  const connection = connectionText(asked);
  return {
    reading: `${connection}, from ${formatInstant(range.from)} to ${formatInstant(range.to)}`,
    asked: {
      src: asked.src.name,
      dst: asked.dst.name,
      protocol: asked.protocol ?? null,
      port: asked.port ?? null,
      ...rangeView(range),
    },
    was: { begin: readingView(first.reading), end: readingView(last), now: readingView(now) },
    summary: summaryOf(connection, ranked, last, range),
    finding_count: ranked.length,
    findings,
    ...(begin + given.limit < ranked.length && { next_cursor: `${range.to}.${begin + given.limit}` }),
  };

  async function restoreFor(place: number, flip: Flip): Promise<Restore> {
    const isAsBefore = sameReading({ ...flip.before.reading, usable: now.usable }, now);
    const isPresence = flip.causes.some(({ cause }) => cause === 'presence');
    if (isAsBefore && !isPresence) return { none: 'It is now again as it was before this: nothing is to be put back.' };
    if (place >= MAX_PLANS)
      return { none: `Only the first ${MAX_PLANS} findings carry a plan: ask about a shorter range.` };
    return restoreOf(context, flip, asked);
  }
}

function restoreView({ id, spec, assessment }: Extract<Restore, { plan: unknown }>['plan']) {
  return {
    plan_id: id,
    summary: spec.summary,
    risk_level: assessment.risk.level,
    verified: assessment.verification === 'proven',
    changes: assessment.shown.map(({ action, resource, name }) => ({ action, resource, name })),
    warnings: [...assessment.warnings],
    expires_at: formatInstant(spec.expiresAt),
  };
}

async function askedPair(
  { services, workspace }: CallContext<ComputeServices>,
  { question, src, dst, protocol, port }: CauseQuestion,
  range: Range,
): Promise<AskedPair> {
  if (src !== undefined && dst !== undefined) {
    const [from, to] = await Promise.all([
      identityOf(services, workspace, src, range),
      identityOf(services, workspace, dst, range),
    ]);
    return { src: from, dst: to, ...(protocol && { protocol }), ...(port !== undefined && { port }) };
  }
  if (question === undefined || src !== undefined || dst !== undefined) {
    const detail = 'Send a question in plain words, or both src and dst.';
    throw invalidInput([{ pointer: '/question', detail }], `/question: ${detail}`);
  }
  return {
    ...pairInQuestion(question, await peersIn(services, workspace, range)),
    ...(protocol && { protocol }),
    ...(port !== undefined && { port }),
  };
}

/** Everyone who was there at any time, each once: as last seen. */
async function peersIn(services: ComputeServices, workspace: string, range: Range): Promise<PeerRecord[]> {
  const { store } = services;
  const [end, begin] = await statesOf(services, workspace, range);
  const versions = await store.versions(workspace, 'MeshPeer', { after: range.first, upTo: range.last });
  const peers = new Map<string, PeerRecord>();
  for (const peer of begin.peers.values()) peers.set(peer.uid, peer);
  for (const { record } of versions) if (record) peers.set(record.uid, record);
  const isThere = new Set([...end.peers.values()].map(({ uid }) => uid));
  const names = new Set(end.peers.keys());
  // A name that someone has now means them, whoever had it before.
  return [...peers.values()].filter(({ uid, name }) => isThere.has(uid) || !names.has(name));
}

/**
 * First the newest flip that made it worse than it ever was again: what is to be put back. Where there is none, such as
 * where it works at the end, they are told from the newest on.
 */
function rankedFlips(flips: readonly Flip[]): Flip[] {
  const newest = flips.toReversed();
  let best = Number.NEGATIVE_INFINITY;
  const root = newest.find(({ before, after }) => {
    best = Math.max(best, weightOf(after.reading));
    return best < weightOf(before.reading);
  });
  return root ? [root, ...newest.filter((flip) => flip !== root)] : newest;
}

function weightOf({ verdict, usable }: Flip['after']['reading']): number {
  return (verdict === 'reachable' ? 4 : verdict === 'partial' ? 2 : 0) + Number(usable);
}

function summaryOf(
  connection: string,
  [first, ...others]: readonly Flip[],
  last: Flip['after']['reading'],
  range: Range,
): string {
  const known = range.since > range.from ? ` History is known since ${formatInstant(range.since)}.` : '';
  const is = stateText(last);
  if (!first) return `${connection} was ${is} all the time: nothing changed it in this range.${known}`;
  const more =
    others.length > 0 ? ` ${others.length} more ${others.length > 1 ? 'changes' : 'change'} of it in this range.` : '';
  return `${connection} is ${is} at the end of the range. What made it so: ${formatInstant(first.after.at)}, ${stateText(first.before.reading)} to ${stateText(first.after.reading)}.${more}${known}`;
}
