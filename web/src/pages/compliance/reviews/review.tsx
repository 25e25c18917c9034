import { useSignal } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { type Pages, usePages } from '../../../api/pages.ts';
import type { components } from '../../../api/schema.d.ts';
import { write } from '../../../api/write.ts';
import { linkTo, route, setQuery } from '../../../route/route.ts';
import { reviews as words } from '../../../texts/reviews.ts';
import { texts } from '../../../texts/texts.ts';
import { useAct } from '../../../ui/act.ts';
import { Confirm } from '../../../ui/dialog.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Empty } from '../../../ui/page.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { Time } from '../../../ui/time.tsx';
import type { ReviewItem } from '../types.ts';
import { Item } from './review-item.tsx';

type Shown = keyof typeof words.shows;
type Answer = components['schemas']['GetReviewResponse'];

const PAGE = 50;

/** One review: each of its items is confirmed, or flagged with a reason; then it is finished. */
export function ReviewPage({ id }: { id: string }) {
  const pages = usePages<ReviewItem, Answer>((cursor) => {
    const query = { show: shownOf(route.value.query.get('show')), limit: PAGE, ...(cursor && { cursor }) };
    return answer(api.GET('/api/v1/ai/compliance/reviews/{id}', { params: { path: { id }, query } }));
  });
  const { first } = pages.value;
  return (
    <ReadResult of={pages.value}>{() => first && <Review id={id} first={first} pages={pages.value} />}</ReadResult>
  );
}

interface ReviewProps {
  readonly id: string;
  readonly first: Answer;
  readonly pages: Pages<ReviewItem, Answer>;
}

function Review({ id, first, pages: { value = [], reload, more } }: ReviewProps) {
  const { kind, state, started_at: at, started_by: by, digest, range, notes, finished, open_count: open } = first;
  const isOpen = state === 'open' && !route.value.query.has('at');
  const show = shownOf(route.value.query.get('show'));
  return (
    <article class="stack" aria-label={words.of(words.kinds[kind])}>
      <p>
        <a href={linkTo('compliance', ['reviews'])}>{words.back}</a>
      </p>
      <div class="row">
        <h2>{words.of(words.kinds[kind])}</h2>
        <span class={`tag ${state === 'open' ? 'warn' : 'ok'}`}>
          {state === 'open' ? `○ ${words.open}` : `● ${words.finished}`}
        </span>
      </div>
      <p>
        {words.left(open, first.items_count)} {first.new_since > 0 && words.newSince(first.new_since)}{' '}
        {first.flagged_in_force > 0 && <strong>▲ {words.inForce(first.flagged_in_force)}</strong>}
      </p>
      {notes.map((note) => (
        <p key={note} class="notice break">
          {note}
        </p>
      ))}
      <Facts
        facts={[
          [words.startedBy, [<Time key="at" at={at} />, ` ${words.by} ${by}`]],
          [words.range, range && `${range.from_seq} – ${range.to_seq}`],
          [
            words.finished,
            finished && [
              <Time key="finished" at={finished.at} />,
              ` ${words.by} ${finished.by}: ${words.result(finished.confirmed, finished.flagged)} ${finished.note}`,
              finished.alone && ` ${words.alone}`,
            ],
          ],
          [words.digest, <code key="digest">{digest}</code>],
        ]}
      />
      <label class="row">
        {words.show}
        <select value={show} onChange={({ currentTarget }) => setQuery({ show: currentTarget.value })}>
          {Object.entries(words.shows).map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {value.length === 0 && <Empty>{words.none}</Empty>}
      <ul class="lines">
        {value.map((item) => (
          <Item key={item.id} review={id} item={item} isOpen={isOpen} decided={reload} />
        ))}
      </ul>
      {more && (
        <div class="row">
          <button type="button" onClick={more}>
            {texts.common.more}
          </button>
        </div>
      )}
      {isOpen && (open > 0 ? <ConfirmRest id={id} open={open} done={reload} /> : <Finish id={id} done={reload} />)}
    </article>
  );
}

function shownOf(text: string | null): Shown {
  return text !== null && Object.hasOwn(words.shows, text) ? (text as Shown) : 'all';
}

interface EndProps {
  readonly id: string;
  readonly done: () => void;
}

function ConfirmRest({ id, open, done }: EndProps & { open: number }) {
  const isAsked = useSignal(false);
  const note = useSignal('');
  const run = async () => {
    const body = { confirm_rest: true as const, note: note.value };
    const call = api.POST('/api/v1/ai/compliance/reviews/{id}/decisions', { params: { path: { id } }, body });
    await write(call, (written) => ('decided' in written ? words.restDone(written.decided, written.undecided) : ''));
    done();
  };
  return (
    <div class="row">
      <button type="button" onClick={() => (isAsked.value = true)}>
        {words.confirmRest(open)}
      </button>
      {isAsked.value && (
        <Confirm
          title={words.restTitle(open)}
          act={words.confirmRest(open)}
          run={run}
          close={() => (isAsked.value = false)}
        >
          <p>{words.restWhy}</p>
          <TextField label={words.note} value={note} autocomplete="off" />
        </Confirm>
      )}
    </div>
  );
}

function Finish({ id, done }: EndProps) {
  const note = useSignal('');
  const { isActing, problem, act } = useAct();
  const submit = (event: Event) => {
    event.preventDefault();
    const body = { note: note.value };
    const call = () => api.POST('/api/v1/ai/compliance/reviews/{id}/finish', { params: { path: { id } }, body });
    return act(async () => {
      await write(call(), words.done);
      done();
    });
  };
  return (
    <form class="panel stack" onSubmit={submit}>
      <p>{words.finishWhy}</p>
      <TextField label={words.finishNote} value={note} maxLength={2_000} autocomplete="off" />
      <ProblemNotice problem={problem.value} />
      <div class="row">
        <button type="submit" class="primary" disabled={isActing.value}>
          {words.finish}
        </button>
      </div>
    </form>
  );
}
