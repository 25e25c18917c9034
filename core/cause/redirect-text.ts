import { z } from 'zod';
import { lineText } from '../base/as-data.ts';
import type { AllowedPorts } from '../reachability/port-sets.ts';
import { portsText } from './summary-text.ts';

/** Groups, or spans, that are told. */
const MAX_LISTED = 5;
/** Resources that are named. */
const MAX_NAMES = 20;

const allowed = z.custom<AllowedPorts>();
const groups = z.looseObject({
  asked_pairs: z.int(),
  open_pairs: z.int(),
  at: z.string(),
  groups: z.array(z.looseObject({ src: z.array(z.string()), dst: z.array(z.string()), allowed })),
});
const reached = z.looseObject({ allowed });
const spans = z.looseObject({
  src: z.string().nullable(),
  dst: z.string().nullable(),
  intervals: z.array(
    z.looseObject({
      from: z.string(),
      to: z.string(),
      verdict: z.string(),
      reach: z.array(reached.extend({ peers: z.array(z.string()) })),
      outside: z.array(reached.extend({ addresses: z.array(z.string()) })).nullable(),
    }),
  ),
});
type Span = z.infer<typeof spans>['intervals'][number];

const resource = z.looseObject({ kind: z.string(), name: z.string() });
const side = z.looseObject({ captured_at: z.string() });
const difference = z.looseObject({
  from: side,
  to: side,
  added: z.array(resource),
  removed: z.array(resource),
  changed: z.array(resource.extend({ changes: z.array(z.looseObject({ path: z.string() })) })),
  groups: z.array(z.looseObject({ src: z.array(z.string()), dst: z.array(z.string()), old: allowed, new: allowed })),
  commits: z.array(
    z.looseObject({
      at: z.string(),
      revision: z.int(),
      actor: z.string(),
      reviewed_by: z.string().nullable(),
      resources: z.array(z.string()),
    }),
  ),
  summary: z.looseObject({ groups: z.int(), more_commits: z.boolean() }),
});
type Difference = z.infer<typeof difference>;

/** Returns the answer of the tool that a question was passed to, in a sentence or two. */
export function redirectAnswerText(answer: unknown): string {
  const reach = groups.safeParse(answer).data;
  if (reach) {
    const told = reach.groups
      .slice(0, MAX_LISTED)
      .map((one) => `${one.src.join(', ')} to ${one.dst.join(', ')} on ${portsText(one.allowed)}`);
    return `At ${reach.at}, ${reach.open_pairs} of ${reach.asked_pairs} connections between peers were open${list(told, reach.groups.length)}`;
  }
  const exposure = spans.safeParse(answer).data;
  if (exposure) {
    const { src, dst, intervals } = exposure;
    const told = intervals.slice(-MAX_LISTED).map(spanText);
    const who = dst === null ? `${src} could reach` : `${dst} could be reached by`;
    return lineText(`${who}${list(told, intervals.length)}`);
  }
  const changes = difference.safeParse(answer).data;
  if (!changes) return 'The answer is in done.';
  return differenceText(changes);
}

function spanText({ from, to, verdict, reach, outside }: Span): string {
  const ends = [
    ...reach.map(({ peers, allowed: ports }) => `${peers.join(', ')} on ${portsText(ports)}`),
    ...(outside ?? []).map(({ addresses, allowed: ports }) => `${addresses.join(', ')} on ${portsText(ports)}`),
  ];
  const whom = verdict === 'undetermined' ? 'not known' : ends.length === 0 ? 'nobody' : ends.join(', ');
  return `from ${from} to ${to}: ${whom}`;
}

/** By name: what is there now and was not, what came and went between, who wrote it, and what it did. */
function differenceText({ from, to, added, removed, changed, groups: rows, commits, summary }: Difference): string {
  const named = ({ kind, name }: z.infer<typeof resource>) => `${kind} ${name}`;
  const fields = changed.map((one) => `${named(one)} (${one.changes.map(({ path }) => path.slice(1)).join(', ')})`);
  const flips = rows.map((row) => {
    const [src, dst] = [row.src.join(', '), row.dst.join(', ')];
    return `${src} to ${dst} from ${portsOrNone(row.old)} to ${portsOrNone(row.new)}`;
  });
  const writes = commits.map(({ at, revision, actor, reviewed_by: by, resources }) => {
    const approved = by === null ? '' : `, approved by ${by}`;
    return `${resources.join(', ')} at ${at} in revision ${revision} by ${actor}${approved}`;
  });
  const range = `${from.captured_at} to ${to.captured_at}`;
  const parts = [
    ...partOf('added', added.map(named)),
    ...partOf('removed', removed.map(named)),
    ...partOf('changed', fields),
    ...partOf('made and deleted again', madeAndDeleted(commits)),
  ];
  if (parts.length === 0 && writes.length === 0 && summary.groups === 0) return `Nothing changed from ${range}.`;
  const count = summary.more_commits
    ? `more than ${commits.length} changes`
    : `${commits.length} ${commits.length === 1 ? 'change' : 'changes'}`;
  const head = `From ${range}: ${count}. `;
  const what = parts.length === 0 ? 'No resource is different.' : lineText(`Resources ${parts.join('; ')}.`);
  const who = writes.length === 0 ? '' : ` Changes${list(writes, writes.length)}`;
  const reach =
    summary.groups === 0
      ? ' No connection between peers is different.'
      : ` Connections between ${summary.groups} groups of peers are different${list(flips, summary.groups)}`;
  return lineText(`${head}${what}${who}${reach}`);
}

function partOf(what: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : '';
  return [`${what}: ${names.slice(0, MAX_NAMES).join(', ')}${more}`];
}

function portsOrNone(ports: AllowedPorts): string {
  return ports !== 'ALL' && ports.length === 0 ? 'nothing' : portsText(ports);
}

/** Returns resources that are in neither state, because they were created and deleted between the two. */
function madeAndDeleted(commits: Difference['commits']): string[] {
  const made = new Set<string>();
  const gone = new Set<string>();
  for (const text of commits.flatMap(({ resources }) => resources)) {
    const [did, name] = [text.slice(0, text.indexOf(' ')), text.slice(text.indexOf(' ') + 1).replace('/', ' ')];
    if (did === 'created') made.add(name);
    if (did === 'deleted' && made.has(name)) gone.add(name);
    if (did === 'created') gone.delete(name);
  }
  return [...gone];
}

function list(told: readonly string[], count: number): string {
  if (told.length === 0) return '.';
  const more = count > told.length ? `; and ${count - told.length} more` : '';
  return `: ${told.join('; ')}${more}.`;
}
