import { styleText } from 'node:util';
import type { Command } from 'commander';
import { counted } from '../core/compliance/check-result.ts';
import { REVIEW_KINDS } from '../core/compliance/reviews/review-record.ts';
import { decideReviewItems, MAX_NAMED } from '../tools/reviews/decide-review-items.ts';
import { finishReview } from '../tools/reviews/finish-review.ts';
import { getReview } from '../tools/reviews/get-review.ts';
import { listCredentials } from '../tools/reviews/list-credentials.ts';
import { listReviews } from '../tools/reviews/list-reviews.ts';
import { startReview } from '../tools/reviews/start-review.ts';
import { type Answer, answering } from './answer.ts';
import { callOperation } from './call-operation.ts';
import { csvOf } from './csv.ts';
import { CliError, EXIT } from './exit.ts';
import { type Target, type TargetOptions, targetOf } from './session.ts';
import { table } from './table.ts';
import { withTarget } from './target.ts';

type ReviewAnswer = ReturnType<typeof getReview.output.parse>;
type Item = ReviewAnswer['items'][number];
type DecisionAnswer = ReturnType<typeof decideReviewItems.output.parse>;
type Credentials = ReturnType<typeof listCredentials.output.parse>;

interface NoteOptions extends TargetOptions {
  readonly note?: string;
}

const KINDS = REVIEW_KINDS.join(', ');
const PAGE = 200;

/** `mesh compliance reviews`, `review` and `inventory`. */
export function defineReviews(command: Command): void {
  answering(
    withTarget(
      command.command('reviews').description('list the reviews, and when the next of each kind is due'),
    ).option('--kind <kind>', `only those of it: ${KINDS}`),
    list,
  );
  answering(
    withTarget(command.command('inventory').description('list keys and tokens with their ages; never a secret')).option(
      '--csv',
      'all of them as CSV',
    ),
    inventory,
  );
  const review = command.command('review').description('review access, policies or activity');
  answering(
    withTarget(review.command('start').description('list what is to be reviewed, as it is now'))
      .argument('<kind>', KINDS)
      .option('--from-seq <seq>', 'of activity: first entry of the audit log (the one after the last review)')
      .option('--to-seq <seq>', 'of activity: last entry (the newest)'),
    start,
  );
  answering(
    withTarget(review.command('show').description('show a review and its items'))
      .argument('<id>', 'of the review')
      .option('--open', 'only what is to be looked at yet')
      .option('--flagged', 'only what was flagged, and whether it has ended'),
    show,
  );
  for (const [name, verdict, description] of [
    ['confirm', 'confirmed', 'confirm items, or all that nobody decided'],
    ['flag', 'flagged', 'flag items that are to be ended'],
  ] as const) {
    const decide = withTarget(review.command(name).description(description))
      .argument('<id>', 'of the review')
      .argument(verdict === 'confirmed' ? '[items...]' : '<items...>', 'ids of items')
      .option('--note <text>', 'why');
    if (verdict === 'confirmed') decide.option('--rest', 'confirm all that nobody decided and that has not changed');
    answering(decide, (id: string, items: readonly string[], options: NoteOptions & { readonly rest?: boolean }) =>
      decideAll(id, verdict, items, options),
    );
  }
  answering(
    withTarget(review.command('finish').description('finish a review: nothing of it changes any more'))
      .argument('<id>', 'of the review')
      .option('--note <text>', 'what is to be said of the whole'),
    async (id: string, { note, ...options }: NoteOptions): Promise<Answer> => {
      const value = await callOperation(targetOf(options), finishReview, { id, ...(note !== undefined && { note }) });
      const { finished } = finishReview.output.parse(value);
      const alone = finished?.alone ? ' Nobody else could have reviewed: the record says so.' : '';
      const text = `Finished: ${finished?.confirmed} confirmed, ${finished?.flagged} flagged, ${finished?.ended} ended meanwhile.${alone}`;
      const hints =
        finished && finished.flagged > 0 ? [`What to end: mesh compliance review show ${id} --flagged`] : [];
      return { value, text, hints };
    },
  );
}

async function list({ kind, ...options }: TargetOptions & { readonly kind?: string }): Promise<Answer> {
  const value = await callOperation(targetOf(options), listReviews, kind ? { kind } : {});
  const due = value.due
    .filter((one) => kind === undefined || one.kind === kind)
    .map(({ kind: of, due_at: at, overdue, open_id: open }) => {
      const word = overdue ? styleText('bold', 'overdue since') : 'due at';
      return `${of}: ${word} ${at}${open === null ? '' : `; open: ${open}`}`;
    });
  const rows = value.items.length === 0 ? [] : ['', ...table(value.items, listReviews.columns ?? {}).split('\n')];
  const more = value.next_cursor === undefined ? [] : ['There are more: mesh admin list-reviews lists all.'];
  return { value, text: [...due, ...rows, ...more] };
}

async function start(
  kind: string,
  options: TargetOptions & { readonly fromSeq?: string; readonly toSeq?: string },
): Promise<Answer> {
  const { fromSeq, toSeq, ...target } = options;
  const values = {
    kind,
    ...(fromSeq !== undefined && { from_seq: seqOf(fromSeq, '--from-seq') }),
    ...(toSeq !== undefined && { to_seq: seqOf(toSeq, '--to-seq') }),
  };
  const value = startReview.output.parse(await callOperation(targetOf(target), startReview, values));
  const { id, items_count: count, notes, range } = value;
  const of = range ? ` of the entries ${range.from_seq} to ${range.to_seq}` : '';
  return {
    value,
    text: [`Started ${id}: ${counted(count, 'item')}${of}.`, ...notes],
    hints: [`Look at them: mesh compliance review show ${id}`],
  };
}

function seqOf(text: string, option: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new CliError(`${option} takes the seq of an entry of the audit log; not "${text}".`, EXIT.input);
}

async function show(
  id: string,
  { open, flagged, ...options }: TargetOptions & { readonly open?: boolean; readonly flagged?: boolean },
): Promise<Answer> {
  if (open && flagged) throw new CliError('Give --open or --flagged, not both.', EXIT.input);
  const value = await reviewAnswerOf(targetOf(options), id, open ? 'open' : flagged ? 'flagged' : 'all');
  const {
    items,
    notes,
    range,
    previous,
    finished,
    open_count: left,
    flagged_in_force: inForce,
    new_since: since,
  } = value;
  const diff =
    previous && value.kind === 'policies'
      ? [`What that changed: mesh diff ${previous.started_at} ${value.started_at}`]
      : [];
  const head = [
    `Review of ${value.kind}, ${value.state}, started ${value.started_at} by ${value.started_by}`,
    ...(range ? [`Entries ${range.from_seq} to ${range.to_seq} of the audit log, ${range.left} after them`] : []),
    ...notes,
    ...(finished
      ? [`Finished ${finished.at} by ${finished.by}${finished.note === '' ? '' : `: ${finished.note}`}`]
      : []),
    ...(finished?.alone ? ['Nobody else could have reviewed.'] : []),
    '',
  ];
  const tail = [
    '',
    `${value.items_count} items, ${left} to be looked at, ${inForce} flagged and in force${since > 0 ? `, ${since} new since: for the next review` : ''}.`,
  ];
  return { value, text: [...head, ...items.flatMap(linesOf), ...tail], hints: diff };
}

/** Returns the lines of an item: its facts, its decision, and the operation that ends it where it was flagged. */
function linesOf(item: Item): readonly string[] {
  const { decision, standing, type, name, facts, told, scopes, may } = item;
  const word = decision?.verdict ?? 'open';
  const now = standing === 'same' ? '' : `, ${standing} since`;
  const fields = Object.entries({ ...facts, ...told }).map(
    ([field, value]) => `${field.replaceAll('_', ' ')} ${value}`,
  );
  return [
    `${styleText('bold', word.padEnd(9))}  ${type} ${name}${now}`,
    `           ${item.id}`,
    `           ${fields.join('; ')}`,
    ...(scopes.length > 0 ? [`           may ${may.join(', ')}`] : []),
    ...(decision
      ? [
          `           by ${decision.by}${decision.own ? ' (holds it)' : ''}${decision.note === '' ? '' : `: ${decision.note}`}`,
        ]
      : []),
    ...(item.in_force && item.end_by ? [`           To end it: ${item.end_by.operation} ${item.end_by.id}`] : []),
  ];
}

/** All its pages as one. */
async function reviewAnswerOf(target: Target, id: string, shown: 'all' | 'open' | 'flagged'): Promise<ReviewAnswer> {
  const pages: ReviewAnswer[] = [];
  for (let cursor: string | undefined; ; ) {
    const values = { id, show: shown, limit: PAGE, ...(cursor !== undefined && { cursor }) };
    const page = await callOperation(target, getReview, values);
    pages.push(page);
    cursor = page.next_cursor;
    if (cursor === undefined) break;
  }
  const { next_cursor: _, ...last } = pages.at(-1) as ReviewAnswer;
  return { ...last, items: pages.flatMap(({ items }) => items) };
}

/** Named ones with the digests that they have now, so that what changes meanwhile is not decided unseen. */
async function decideAll(
  id: string,
  verdict: 'confirmed' | 'flagged',
  names: readonly string[],
  { rest, note, ...options }: NoteOptions & { readonly rest?: boolean },
): Promise<Answer> {
  const target = targetOf(options);
  const said = note === undefined ? {} : { note };
  if ((names.length === 0) === !rest) throw new CliError('Name items, or give --rest: one of the two.', EXIT.input);
  if (names.length > MAX_NAMED) throw new CliError(`At most ${MAX_NAMED} items are decided at once.`, EXIT.input);
  if (rest) return answerOf(id, await callOperation(target, decideReviewItems, { id, confirm_rest: true, ...said }));
  const { items } = await reviewAnswerOf(target, id, 'all');
  const byName = Map.groupBy(items, ({ name }) => name);
  const decisions = names.map((asked) => {
    const found = items.find((item) => item.id === asked) ?? onlyOne(asked, byName.get(asked) ?? []);
    return { item: found.id, verdict, digest: found.digest, ...said };
  });
  const body = JSON.stringify({ items: decisions });
  return answerOf(id, await callOperation(target, decideReviewItems, { id }, { body }));
}

function onlyOne(asked: string, found: readonly Item[]): Item {
  const [first, ...others] = found;
  if (!first)
    throw new CliError(`The review has no item ${asked}: mesh compliance review show lists them.`, EXIT.notFound);
  if (others.length === 0) return first;
  throw new CliError(`Several items have the name ${asked}: name one by its id, such as ${first.id}.`, EXIT.input);
}

function answerOf(id: string, value: DecisionAnswer): Answer {
  const { decided, undecided, changed, held_by_caller: held } = value;
  const lines = [
    `${decided} decided, ${undecided} to be looked at yet.`,
    ...(changed > 0 ? [`${changed} changed since they were listed: look at them and confirm them by name.`] : []),
    ...(held > 0 ? [`${held} are yours: another administrator or auditor confirms them.`] : []),
  ];
  const next = undecided === 0 ? `finish ${id}` : `show ${id} --open`;
  return { value, text: lines, hints: [`Next: mesh compliance review ${next}`] };
}

async function inventory({ csv, ...options }: TargetOptions & { readonly csv?: boolean }): Promise<Answer> {
  const target = targetOf(options);
  const items: Credentials['items'] = [];
  for (let cursor: string | undefined; ; ) {
    const values = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
    const page = await callOperation(target, listCredentials, values);
    items.push(...page.items);
    cursor = page.next_cursor;
    if (cursor === undefined) break;
  }
  if (!csv) return { value: { items }, columns: listCredentials.columns };
  const rows = items.map((one) => Object.values(one).map((value) => (value === null ? '' : String(value))));
  return {
    value: { items },
    text: csvOf(Object.keys(listCredentials.output.shape.items.element.shape), rows).trimEnd().split('\n'),
  };
}
