import { invalidInput, MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import { formatInstant, parseInstant } from '../base/time.ts';
import { beforeHistory, beginningText } from '../history/beginning.ts';
import { bothOutside } from '../history/connectivity.ts';
import { endOfPair, type Identity, statesOf } from '../history/pair/identity.ts';
import {
  notUnderstood,
  type ParsedQuestion,
  type PeerOverRange,
  type Question,
  type QuestionEnd,
  type ResourceOverRange,
} from '../history/pair/question-reader.ts';
import { precedesHistory, type Range, rangeOf } from '../history/pair/range.ts';
import type { ComputeServices } from '../intent/plan/services.ts';
import type { Protocol } from '../model/policy.ts';
import { nearestOf, notFound } from '../model/with-nearest.ts';
import { timeZoneOf } from '../model/workspaces.ts';
import { isGroupTerm } from '../state/find-peer.ts';
import { recordsOf } from '../state/state.ts';
import { termTest } from '../state/terms.ts';
import { peersOverRange } from './peers-over-range.ts';

const KINDS = ['MeshPolicy', 'MeshNetwork', 'AgentIdentity'] as const;

/** Every policy, network and agent that was there at any time of a range, by the newest that had its name. */
async function resourcesOverRange(
  services: ComputeServices,
  workspace: string,
  range: Range,
): Promise<ResourceOverRange[]> {
  const [end, begin] = await statesOf(services, workspace, range);
  const span = { after: range.first, upTo: range.last };
  const found = new Map<string, ResourceOverRange>();
  for (const kind of KINDS) {
    const versions = await services.store.versions(workspace, kind, span);
    const records = [
      ...recordsOf(begin, kind).values(),
      ...versions.flatMap(({ record }) => record ?? []),
      ...recordsOf(end, kind).values(),
    ];
    for (const { name, uid } of records) found.set(`${kind}/${name}`, { kind, name, uid });
  }
  return [...found.values()];
}

export interface CauseQuestion {
  /** In plain words; or else both ends. */
  readonly question?: string | undefined;
  readonly src?: string | undefined;
  readonly dst?: string | undefined;
  readonly protocol?: Protocol | undefined;
  readonly port?: number | undefined;
  /** None: {@link DEFAULT_RANGE_MS} before the end. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
}

/** The question, and the time range that it is about. */
export interface ParsedCauseQuestion {
  readonly asked: Question;
  readonly range: Range;
  /** Where the range that was asked for begins before history. */
  readonly note?: string;
  /** How the time in the question was read; none where it names none. */
  readonly time?: string;
  /** True where the question is about one moment, the end of the range. */
  readonly isMoment: boolean;
}

/** How far back a question without a begin looks. */
const DEFAULT_RANGE_MS = 30 * 24 * 3_600_000;

/** The range of a page before, which later pages keep. */
type FixedRange = { readonly from: number; readonly to: number } | undefined;

/**
 * Reads a question, in words or typed. The time that its words name lies within the range that is sent, if one is.
 *
 * @throws MeshError as `rangeOf`, `identityOf` and `QuestionReader` do
 */
export async function parsedQuestionOf(
  context: CallContext<ComputeServices>,
  given: CauseQuestion,
  fixed: FixedRange,
): Promise<ParsedCauseQuestion> {
  const { services, workspace } = context;
  const read = given.question === undefined ? undefined : await readWords(context, given.question);
  const span = fixed ?? spanOf(given, read, services.clock.now());
  const from = formatInstant(span.from ?? (span.to ?? services.clock.now()) - DEFAULT_RANGE_MS);
  const range = await rangeOf(services, workspace, {
    from,
    to: span.to === undefined ? undefined : formatInstant(span.to),
    mayPrecede: true,
  });
  const time = read?.time;
  const isMoment = time?.from !== undefined && time.from === time.to;
  const asked = precedesHistory(range)
    ? await questionBeforeHistory(context, given, read, range)
    : await questionIn(context, given, read, range);
  // A range that nobody asked for begins as early as it may.
  const isTold = range.gap === 'NO_SNAPSHOT' && (span.from !== undefined || precedesHistory(range));
  const note = isTold ? await beginningText(services, workspace, range.keptFrom) : undefined;
  return { asked, range, ...(note !== undefined && { note }), ...(time && { time: time.said }), isMoment };
}

/** Before history nobody was there to connect; that nothing was written then is an answer. @throws MeshError `not_found` */
async function questionBeforeHistory(...given: Parameters<typeof questionIn>): Promise<Question> {
  const [{ services, workspace }, , , range] = given;
  const asked = await questionIn(...given).catch((error: unknown) => {
    if (error instanceof MeshError) return undefined;
    throw error;
  });
  if (asked && asked.about !== 'connection') return asked;
  throw await beforeHistory(services, workspace, range.keptFrom);
}

async function readWords({ services, workspace }: CallContext<ComputeServices>, question: string) {
  return services.questions.read(question, services.clock.now(), await timeZoneOf(services, workspace));
}

/** The time in the words, cut to the range that was sent; of a moment the time up to it. */
function spanOf(
  { from, to }: CauseQuestion,
  read: ParsedQuestion | undefined,
  now: number,
): { from?: number; to?: number } {
  const sent = { from: instantOf(from), to: instantOf(to) };
  const { time } = read ?? {};
  const isMoment = time?.from === time?.to;
  const named = { from: isMoment ? undefined : time?.from, to: time?.to };
  const begin = Math.max(sent.from ?? Number.NEGATIVE_INFINITY, named.from ?? Number.NEGATIVE_INFINITY);
  const end = Math.min(sent.to ?? Number.POSITIVE_INFINITY, named.to ?? Number.POSITIVE_INFINITY);
  const isCut = Number.isFinite(named.from ?? Number.NaN) || Number.isFinite(named.to ?? Number.NaN);
  const isOutside = (isMoment && (named.to ?? end) > end) || Math.min(end, now) < begin;
  if (time && isCut && isOutside) {
    const range = `${from ?? 'the beginning'} to ${to ?? 'now'}`;
    throw notUnderstood(
      `${time.said}, which lies outside of the range that is asked about, ${range}: send one that has it.`,
    );
  }
  return { ...(Number.isFinite(begin) && { from: begin }), ...(Number.isFinite(end) && { to: end }) };
}

function instantOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseInstant(text);
}

async function questionIn(
  context: CallContext<ComputeServices>,
  { question, src, dst, protocol, port }: CauseQuestion,
  read: ParsedQuestion | undefined,
  range: Range,
): Promise<Question> {
  const { services, workspace } = context;
  const scope = { ...(protocol && { protocol }), ...(port !== undefined && { port }) };
  if (src !== undefined && dst !== undefined) {
    const known = isGroupTerm(src) || isGroupTerm(dst) ? await peersOverRange(services, workspace, range) : [];
    const [from, to] = await Promise.all([src, dst].map((end) => endOf(context, end, range, known)));
    if (from && to) return withoutTwoOutside({ about: 'connection', src: from, dst: to, ...scope, unused: [] });
  }
  if (question === undefined || !read || src !== undefined || dst !== undefined) {
    const detail = 'Send a question in plain words, or both src and dst.';
    throw invalidInput([{ pointer: '/question', detail }], `/question: ${detail}`);
  }
  const [peers, others] = [
    await peersOverRange(services, workspace, range),
    await resourcesOverRange(services, workspace, range),
  ];
  const asked = { ...read.about(peers, others), ...scope };
  if (asked.about !== 'connection') return asked;
  const [from, to] = await Promise.all([asked.src, asked.dst].map((end) => withRanges(context, end, range)));
  return withoutTwoOutside({ ...asked, src: from ?? asked.src, dst: to ?? asked.dst });
}

/** Resolves addresses outside by the networks of the time. */
async function withRanges({ services, workspace }: CallContext<ComputeServices>, end: QuestionEnd, range: Range) {
  if (end.outside === undefined) return end;
  return { ...end, peers: [await endOfPair(services, workspace, end.outside, range)] };
}

function withoutTwoOutside(asked: Extract<Question, { about: 'connection' }>): Question {
  const isOutside = ({ peers }: QuestionEnd) => peers.some(({ ranges }: Identity) => ranges !== undefined);
  if (isOutside(asked.src) && isOutside(asked.dst)) throw bothOutside();
  return asked;
}

/** A peer by its name, or all who were meant by a term of labels at any time of the range. */
async function endOf(
  { services, workspace }: CallContext<ComputeServices>,
  given: string,
  range: Range,
  known: readonly PeerOverRange[],
): Promise<QuestionEnd> {
  if (!isGroupTerm(given)) {
    const end = await endOfPair(services, workspace, given, range);
    return { text: end.name, peers: [end], term: end.name };
  }
  const byName = new Map(known.map(({ peer }) => [peer.name, peer]));
  const holds = given === '*' ? () => true : termTest(given, byName);
  const peers = known.filter(({ versions }) => versions.some(holds)).map(({ peer }) => peer);
  if (peers.length > 0) return { text: given === '*' ? 'every peer' : given, peers, term: given };
  const labels = known.flatMap(({ versions }) =>
    versions.flatMap((one) => Object.entries(one.labels).map(([key, value]) => `${key}=${value}`)),
  );
  throw notFound(`No peer had ${JSON.stringify(given)} in this range.`, nearestOf(given, new Set(labels)));
}
