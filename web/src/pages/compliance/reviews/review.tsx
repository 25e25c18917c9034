import { useSignal } from '@preact/signals';
import { answer, api } from '../../../api/client.ts';
import { type Pages, usePages } from '../../../api/pages.ts';
import type { components } from '../../../api/schema.d.ts';
import { write } from '../../../api/write.ts';
import { actorText } from '../../../design/actor-words.ts';
import { Chip } from '../../../design/chip.tsx';
import { linkTo, queryPart, setQuery } from '../../../route/route.ts';
import { useAct } from '../../../ui/act.ts';
import { Confirm } from '../../../ui/dialog.tsx';
import { Facts } from '../../../ui/facts.tsx';
import { TextField } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { Empty } from '../../../ui/page.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { Time } from '../../../ui/time.tsx';
import type { ReviewItem } from '../types.ts';
import { resultText, titleOf } from './kinds.ts';
import { Item } from './review-item.tsx';

const SHOWS = { open: 'to be looked at', flagged: 'flagged', confirmed: 'confirmed', all: 'all' } as const;
type Shown = keyof typeof SHOWS;
type Answer = components['schemas']['GetReviewResponse'];

const PAGE = 50;

/** One review: each of its items is confirmed, or flagged with a reason; then it is finished. */
export function ReviewPage({ id }: { id: string }) {
  const pages = usePages<ReviewItem, Answer>((cursor) => {
    const query = { show: shownOf(queryPart('show')), limit: PAGE, ...(cursor && { cursor }) };
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
  const isOpen = state === 'open' && queryPart('at') === null;
  const show = shownOf(queryPart('show'));
  return (
    <article class="stack" aria-label={titleOf(kind)}>
      <p>
        <a href={linkTo('compliance', ['reviews'])}>All reviews</a>
      </p>
      <div class="row">
        <h2>{titleOf(kind)}</h2>
        <Chip tone={state === 'open' ? 'warn' : 'ok'}>{state === 'open' ? `○ open` : `● finished`}</Chip>
      </div>
      <p>
        {open} of {first.items_count} to be looked at.{' '}
        {first.new_since > 0 && `${first.new_since} came since: they are for the next review. `}
        {first.flagged_in_force > 0 && <strong>▲ {first.flagged_in_force} flagged and still in force.</strong>}
      </p>
      {notes.map((note) => (
        <p key={note} class="notice break">
          {note}
        </p>
      ))}
      <Facts
        facts={[
          ['Started', [<Time key="at" at={at} />, ` by ${actorText(by)}`]],
          ['Entries of the log', range && `${range.from_seq} – ${range.to_seq}`],
          [
            'finished',
            finished && [
              <Time key="finished" at={finished.at} />,
              ` by ${finished.by}: ${resultText(finished)} ${finished.note}`,
              finished.alone && ` Nobody else could have reviewed.`,
            ],
          ],
          ['Digest of the list', <code key="digest">{digest}</code>],
        ]}
      />
      <label class="row">
        Show
        <select value={show} onChange={({ currentTarget }) => setQuery({ show: currentTarget.value })}>
          {Object.entries(SHOWS).map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {value.length === 0 && <Empty>Nothing of this kind.</Empty>}
      <ul class="lines">
        {value.map((item) => (
          <Item key={item.id} review={id} item={item} isOpen={isOpen} decided={reload} />
        ))}
      </ul>
      {more && (
        <div class="row">
          <button type="button" onClick={more}>
            Load more
          </button>
        </div>
      )}
      {isOpen && (open > 0 ? <ConfirmRest id={id} open={open} done={reload} /> : <Finish id={id} done={reload} />)}
    </article>
  );
}

function shownOf(text: string | null): Shown {
  return text !== null && Object.hasOwn(SHOWS, text) ? (text as Shown) : 'all';
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
    await write(call, (written) =>
      'decided' in written ? `${written.decided} confirmed, ${written.undecided} to be looked at.` : '',
    );
    done();
  };
  return (
    <div class="row">
      <button type="button" onClick={() => (isAsked.value = true)}>
        Confirm the other {open}
      </button>
      {isAsked.value && (
        <Confirm
          title={`Confirm ${open} that nobody decided?`}
          act={`Confirm the other ${open}`}
          run={run}
          close={() => (isAsked.value = false)}
        >
          <p>
            You say that you looked at each of them. What changed since it was listed, and what you hold yourself, is
            passed over.
          </p>
          <TextField label="Why" fields={['note']} value={note} autocomplete="off" />
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
      await write(call(), 'The review is finished.');
      done();
    });
  };
  return (
    <Form problem={problem} class="panel stack" onSubmit={submit}>
      <p>Nothing of it changes any more. It is kept for 3 years.</p>
      <TextField
        label="Note on the whole (optional)"
        fields={['note']}
        value={note}
        maxLength={2_000}
        autocomplete="off"
      />
      <ProblemNotice problem={problem.value} />
      <div class="row">
        <button type="submit" class="primary" disabled={isActing.value}>
          Finish the review
        </button>
      </div>
    </Form>
  );
}
