import { answer, api } from '../../../api/client.ts';
import { usePages } from '../../../api/pages.ts';
import { workspaceId } from '../../../api/workspace.ts';
import { write } from '../../../api/write.ts';
import { actorText } from '../../../design/actor-words.ts';
import { Chip } from '../../../design/chip.tsx';
import { goTo, linkTo, route } from '../../../route/route.ts';
import { useAct } from '../../../ui/act.ts';
import { Empty } from '../../../ui/page.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { Time } from '../../../ui/time.tsx';
import type { Review, ReviewKind } from '../types.ts';
import { KINDS, resultText, titleOf } from './kinds.ts';

interface Due {
  readonly kind: ReviewKind;
  readonly due_at: string;
  readonly overdue: boolean;
  readonly reminders: boolean;
  readonly open_id: string | null;
}

/** What is due, and the reviews that were made. */
export function Reviews() {
  const pages = usePages<Review, { items: Review[]; due: Due[] }>((cursor) => {
    workspaceId.value;
    const query = { ...(cursor && { cursor }) };
    return answer(api.GET('/api/v1/ai/compliance/reviews', { params: { query } }));
  });
  const { first, more } = pages.value;
  return (
    <>
      <section class="stack">
        <h2>Reviews by people</h2>
        <p class="dim">
          Frameworks ask that a person looks at who holds what access, at the policies, and at the audit log, and that
          there is a record of it.
        </p>
        <ReadResult of={pages.value}>
          {() => (
            <ul class="lines">
              {first?.due.map((due) => (
                <DueReview key={due.kind} due={due} />
              ))}
            </ul>
          )}
        </ReadResult>
      </section>
      <section class="stack">
        <h2>Reviews so far</h2>
        <ReadResult of={pages.value}>
          {(value) => (
            <>
              {value.length === 0 && (
                <Empty>No review was made yet. Start one: it takes a person, a list and a few minutes.</Empty>
              )}
              <ul class="lines">
                {value.map(({ id, kind, state, started_at: at, started_by: by, finished }) => (
                  <li key={id} class="row">
                    <a href={linkTo('compliance', ['reviews', id])}>{titleOf(kind)}</a>
                    <Chip tone={state === 'open' ? 'warn' : 'ok'}>{state === 'open' ? `○ open` : `● finished`}</Chip>
                    <span class="dim small">
                      Started <Time at={at} /> by {actorText(by)}
                    </span>
                    {finished && <span>{resultText(finished)}</span>}
                  </li>
                ))}
              </ul>
            </>
          )}
        </ReadResult>
        {more && (
          <div class="row">
            <button type="button" onClick={more}>
              Load more
            </button>
          </div>
        )}
      </section>
    </>
  );
}

function DueReview({ due: { kind, due_at: at, overdue, reminders, open_id: open } }: { due: Due }) {
  const { isActing, problem, act } = useAct();
  const start = () =>
    act(async () => {
      const review = await write(
        api.POST('/api/v1/ai/compliance/reviews', { body: { kind } }),
        'The review is started.',
      );
      if ('id' in review) goTo(linkTo('compliance', ['reviews', review.id]));
    });
  return (
    <li class="stack-small">
      <span class="row">
        <strong>{KINDS[kind].name}</strong>
        <span class="dim">{KINDS[kind].what}</span>
        <Chip tone={overdue ? 'danger' : ''}>
          {overdue ? `▲ overdue since` : 'due'} <Time at={at} />
        </Chip>
        {reminders && <span class="dim small">reminders come</span>}
        {open ? (
          <a class="button push" href={linkTo('compliance', ['reviews', open])}>
            Go on with it
          </a>
        ) : (
          !route.value.query.has('at') && (
            <button type="button" class="push" disabled={isActing.value} onClick={start}>
              Start a review of {kind}
            </button>
          )
        )}
      </span>
      <ProblemNotice problem={problem.value} />
    </li>
  );
}
