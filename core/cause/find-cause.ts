import { invalidInput } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import { formatInstant } from '../base/time.ts';
import { effectTitle } from '../effect/title.ts';
import { changeView, commitOf } from '../history/commits-between.ts';
import { rangeView } from '../history/pair/connection-history.ts';
import type { Flip } from '../history/pair/flips.ts';
import { notUnderstood, type Question } from '../history/pair/question-reader.ts';
import { cutText, type Range } from '../history/pair/range.ts';
import { type Reading, readingIn, sameReading } from '../history/pair/readings.ts';
import { readingView } from '../history/pair/timeline.ts';
import { resourceChanges } from '../history/resource-changes.ts';
import type { ComputeServices } from '../intent/plan/services.ts';
import { groupsOf } from '../state/peer-groups.ts';
import type { NetworkState } from '../state/state.ts';
import { type AccessExpiry, accessExpiryOf } from './access-expiry.ts';
import { type ActionQuestion, actionFindings } from './action-findings.ts';
import { connectionsOver, type PairOverRange, pairsOf, type QuestionPair, type SharedFlip } from './connections.ts';
import { type CauseQuestion, type ParsedCauseQuestion, parsedQuestionOf } from './question.ts';
import { type RedirectQuestion, redirectOf } from './redirect.ts';
import { type Restore, restoreOf } from './restore.ts';
import { connectionText, flipText, portText, sharedReading, summaryText } from './summary-text.ts';

/** Findings that carry a plan: each takes a proof over the whole network. */
const MAX_PLANS = 3;

type Context = CallContext<ComputeServices>;

/**
 * Every flip of the connections that a question is about, the one that matters most first: that which made them what they
 * are at the end of the range; then the others, newest first. The first ones carry a plan that is checked to take them back. A
 * question that another tool answers leads there.
 *
 * @throws MeshError as `parsedQuestionOf` and `pairsOf` do
 */
export async function findCause(context: Context, given: CauseQuestion) {
  const position = positionOf(given.cursor);
  const read = await parsedQuestionOf(context, given, position);
  const { asked } = read;
  const page = { begin: position?.index ?? 0, limit: given.limit };
  switch (asked.about) {
    case 'connection':
      return findings(context, asked, read, page);
    case 'resource':
    case 'deeds':
      return ownHistory(context, asked, read, page);
    default:
      return redirected(asked, read);
  }
}

/** The findings of one page. */
interface Page {
  readonly begin: number;
  readonly limit: number;
}

/** Answers a question about the actions on a resource itself. */
async function ownHistory(context: Context, asked: ActionQuestion, read: ParsedCauseQuestion, page: Page) {
  const { range } = read;
  const { what, summary, count, findings: found } = await actionFindings(context, asked, range, page);
  const named = asked.about === 'deeds' ? { actor: asked.actor } : { ...asked.resource, aspect: asked.aspect };
  return {
    reading: readingText(what, asked, read),
    asked: { ...questionView(asked, range), ...named },
    was: {},
    summary: `${summary}${knownSinceText(range)}`,
    finding_count: count,
    findings: found,
    ...nextOf(page, count, range),
  };
}

function nextOf({ begin, limit }: Page, count: number, { from, to }: Range) {
  return begin + limit < count ? { next_cursor: `${from}.${to}.${begin + limit}` } : {};
}

async function findings(
  context: Context,
  asked: Extract<Question, { about: 'connection' }>,
  read: ParsedCauseQuestion,
  { begin, limit }: Page,
) {
  const { services, workspace } = context;
  const { range } = read;
  const { pairs, flips } = await connectionsOver(services, workspace, pairsOf(asked), range, asked.sought);
  const state = await services.states.current(workspace);
  const reach = services.states.reachability(state, services.clock.now());
  const now = new Map(pairs.map(({ pair }) => [pair, readingIn(reach, state, pair)]));
  const shown = flips.slice(begin, begin + limit);
  const changeOf = async ({ after }: SharedFlip) => {
    const commit = await commitOf(services, workspace, after);
    return { commit, change: commit ? await changeView(services, commit) : null };
  };
  const found = [];
  for (const [index, flip] of shown.entries()) {
    const { commit, change } = await changeOf(flip);
    const restore = await restoreFor(context, begin + index, flip, now);
    found.push({
      rank: begin + index + 1,
      at: formatInstant(flip.after.at),
      connections: connectionsView(flip.pairs, state),
      before: readingView(flip.before.reading),
      after: {
        ...readingView(flip.after.reading),
        blocked_by: flip.after.reading.blocked_by.map((one) => ({ ...one })),
      },
      causes: [...flip.causes],
      change: change && { ...change, changed: commit ? resourceChanges(commit) : [] },
      sentence: flipText(flip, pairs.length, change),
      restore: 'plan' in restore ? restoreView(restore, state) : null,
      no_restore: 'none' in restore ? restore.none : null,
    });
  }
  const [first] = flips;
  const textOf = async (flip: SharedFlip) => flipText(flip, pairs.length, (await changeOf(flip)).change);
  const latest = latestOf(pairs, first);
  const until =
    asked.sought?.change === 'end' ? pairs.map(({ pair, last }) => accessExpiryOf(pair, last, range.to)) : [];
  const summary = summaryText({
    connection: connectionText(asked),
    pairs,
    sought: asked.sought,
    at: read.isMoment ? formatInstant(range.to) : undefined,
    isOverTime: read.time !== undefined && !read.isMoment,
    headline: first && first.roots > 0 ? await textOf(first) : undefined,
    latest: latest && (await textOf(latest)),
    until,
    count: flips.length,
    sidesText: (some) => sidesText(some, state),
  });
  return {
    reading: readingText(connectionText(asked), asked, read),
    asked: {
      ...questionView(asked, range),
      connections: pairs.length,
    },
    was: {
      begin: sharedReading(pairs.map(({ first }) => first.reading)),
      end: sharedReading(pairs.map(({ last }) => last.reading)),
      now: sharedReading([...now.values()]),
      ...(asked.sought?.change === 'end' && { until: untilView(until) }),
    },
    summary: `${summary}${knownSinceText(range)}`,
    finding_count: flips.length,
    findings: found,
    ...nextOf({ begin, limit }, flips.length, range),
  };
}

async function restoreFor(
  context: Context,
  place: number,
  flip: SharedFlip,
  now: ReadonlyMap<QuestionPair, Reading>,
): Promise<Restore> {
  const isAsBefore = flip.pairs.every((pair) => {
    const reading = now.get(pair);
    return reading && sameReading({ ...flip.before.reading, usable: reading.usable }, reading);
  });
  const isPresence = flip.causes.some(({ cause }) => cause === 'presence');
  if (isAsBefore && !isPresence) return { none: 'It is now again as it was before this: nothing is to be put back.' };
  if (place >= MAX_PLANS)
    return { none: `A plan is sought for the first ${MAX_PLANS} findings alone: ask about a shorter range.` };
  return restoreOf(context, flip);
}

function restoreView({ plan, beyond }: Extract<Restore, { plan: unknown }>, state: NetworkState) {
  const { id, spec, assessment } = plan;
  return {
    plan_id: id,
    summary: spec.summary,
    risk_level: assessment.risk.level,
    verified: assessment.check === 'matches' && assessment.objections.length === 0,
    effect: effectTitle(assessment.effect, state, { named: assessment.view.named }),
    changes: assessment.shown.map(({ action, resource, name }) => ({ action, resource, name })),
    /** Changes beyond the cause of the flip; `effect` covers all of them. */
    beyond: beyond ?? null,
    warnings: [...assessment.warnings],
    expires_at: formatInstant(spec.expiresAt),
  };
}

/**
 * Returns the flip that led to the state of a single connection, where it is not the headline and the headline left another
 * state.
 */
function latestOf(pairs: readonly PairOverRange[], headline: SharedFlip | undefined): SharedFlip | undefined {
  const [only, other] = pairs;
  if (!only?.latest || other || (headline && isSameFlip(headline, only.latest))) return undefined;
  const isAsLeft =
    headline && sameReading({ ...headline.after.reading, usable: true }, { ...only.last.reading, usable: true });
  return isAsLeft ? undefined : { ...only.latest, pairs: [only.pair], roots: 1 };
}

function isSameFlip({ after }: Flip, { after: other }: Flip): boolean {
  return after.at === other.at && after.revision === other.revision;
}

function untilView(until: readonly (AccessExpiry | undefined)[]): string | null {
  const ends = until.flatMap((one) => one?.at ?? []);
  return ends.length > 0 ? formatInstant(Math.min(...ends)) : null;
}

/** The connections that flipped, as the peers on each side in few words. */
function connectionsView(pairs: readonly QuestionPair[], state: NetworkState) {
  const sideOf = (side: 'src' | 'dst') => groupsOf([...new Set(pairs.map((pair) => pair[side].name))], state);
  return { count: pairs.length, src: sideOf('src'), dst: sideOf('dst') };
}

function sidesText(pairs: readonly PairOverRange[], state: NetworkState): string {
  const { src, dst } = connectionsView(
    pairs.map(({ pair }) => pair),
    state,
  );
  return `${src.join(', ')} to ${dst.join(', ')}`;
}

/** The answer to a question that another tool answers. */
function redirected(asked: RedirectQuestion, read: ParsedCauseQuestion) {
  const lead = redirectOf(asked, read);
  if (asked.about === 'reach' && (asked.src ?? asked.dst)?.term === undefined)
    throw notUnderstood('Who reaches several peers is asked one by one, or by a label that they share.');
  const what =
    asked.about === 'changes'
      ? 'What changed in the network'
      : `Who could ${asked.dst ? `reach ${asked.dst.text}` : `be reached by ${asked.src?.text}`}${portText(asked)}`;
  return {
    reading: readingText(what, asked, read),
    asked: questionView(asked, read.range),
    was: {},
    summary: `${what} is answered by ${lead.tool}: call it with the arguments in next.`,
    finding_count: 0,
    findings: [],
    next: { tool: lead.tool, arguments: { ...lead.arguments } },
  };
}

function readingText(what: string, { unused }: Question, { range, time, note }: ParsedCauseQuestion): string {
  const said = time === undefined ? '' : `; ${time}`;
  const rest = unused.length > 0 ? `; not used: ${unused.map((word) => JSON.stringify(word)).join(', ')}` : '';
  const cut = cutText(range);
  const end = cut === undefined ? '' : ` (${cut})`;
  return `${what}, from ${formatInstant(range.from)} to ${formatInstant(range.to)}${end}${said}${rest}${note === undefined ? '' : `. ${note}`}`;
}

function questionView(asked: Question, range: Range) {
  const ends: Partial<Pick<Extract<Question, { about: 'reach' }>, 'src' | 'dst'>> =
    'src' in asked || 'dst' in asked ? asked : {};
  return {
    src: ends.src?.text ?? null,
    dst: ends.dst?.text ?? null,
    protocol: asked.protocol ?? null,
    port: asked.port ?? null,
    ...rangeView(range),
  };
}

function knownSinceText({ since, from }: Range): string {
  return since > from ? ` History is known since ${formatInstant(since)}.` : '';
}

const CURSOR = /^(?<from>\d{1,15})\.(?<to>\d{1,15})\.(?<index>\d{1,9})$/;

/** Later pages are of the range of the first, whatever its words meant. */
function positionOf(cursor: string | undefined) {
  if (cursor === undefined) return undefined;
  const { from, to, index } = CURSOR.exec(cursor)?.groups ?? {};
  if (from !== undefined && to !== undefined && index !== undefined)
    return { from: Number(from), to: Number(to), index: Number(index) };
  const detail = 'The cursor is of another question: send next_cursor of the page before, or leave it out.';
  throw invalidInput([{ pointer: '/cursor', detail }], `/cursor: ${detail}`);
}
