import { answer, api } from '../../../api/client.ts';
import { usePages } from '../../../api/pages.ts';
import { workspaceId } from '../../../api/workspace.ts';
import { write } from '../../../api/write.ts';
import { goTo, linkTo, route } from '../../../route/route.ts';
import { reviews as words } from '../../../texts/reviews.ts';
import { texts } from '../../../texts/texts.ts';
import { useAct } from '../../../ui/act.ts';
import { Empty } from '../../../ui/page.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { Time } from '../../../ui/time.tsx';
import type { Review, ReviewKind } from '../types.ts';

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
        <h2>{words.title}</h2>
        <p class="dim">{words.why}</p>
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
        <h2>{words.past}</h2>
        <ReadResult of={pages.value}>
          {(value) => (
            <>
              {value.length === 0 && <Empty>{words.pastEmpty}</Empty>}
              <ul class="lines">
                {value.map(({ id, kind, state, started_at: at, started_by: by, finished }) => (
                  <li key={id} class="row">
                    <a href={linkTo('compliance', ['reviews', id])}>{words.of(words.kinds[kind])}</a>
                    <span class={`tag ${state === 'open' ? 'warn' : 'ok'}`}>
                      {state === 'open' ? `○ ${words.open}` : `● ${words.finished}`}
                    </span>
                    <span class="dim small">
                      {words.startedBy} <Time at={at} /> {words.by} {by}
                    </span>
                    {finished && <span>{words.result(finished.confirmed, finished.flagged)}</span>}
                  </li>
                ))}
              </ul>
            </>
          )}
        </ReadResult>
        {more && (
          <div class="row">
            <button type="button" onClick={more}>
              {texts.common.more}
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
      const review = await write(api.POST('/api/v1/ai/compliance/reviews', { body: { kind } }), words.started);
      if ('id' in review) goTo(linkTo('compliance', ['reviews', review.id]));
    });
  return (
    <li class="stack-small">
      <span class="row">
        <strong>{words.kinds[kind]}</strong>
        <span class="dim">{words.kindWhy[kind]}</span>
        <span class={`tag ${overdue ? 'danger' : ''}`}>
          {overdue ? `▲ ${words.overdue}` : words.due} <Time at={at} />
        </span>
        {reminders && <span class="dim small">{words.reminders}</span>}
        {open ? (
          <a class="button push" href={linkTo('compliance', ['reviews', open])}>
            {words.goOn}
          </a>
        ) : (
          !route.value.query.has('at') && (
            <button type="button" class="push" disabled={isActing.value} onClick={start}>
              {words.start(words.kinds[kind])}
            </button>
          )
        )}
      </span>
      <ProblemNotice problem={problem.value} />
    </li>
  );
}
