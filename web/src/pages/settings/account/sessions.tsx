import { useSignal } from '@preact/signals';
import { allPages } from '../../../api/all-pages.ts';
import { answer, api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import { settings } from '../../../texts/settings.ts';
import { useAct } from '../../../ui/act.ts';
import { Confirm } from '../../../ui/dialog.tsx';
import { say } from '../../../ui/message.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { exactTime, Time } from '../../../ui/time.tsx';

const words = settings.account;

/** Where the person is signed in, this session first, then the newest. */
export function Sessions() {
  const asksForAll = useSignal(false);
  const { isActing, problem, act } = useAct();
  const loaded = useLoaded(
    () =>
      allPages((cursor) => api.GET('/api/v1/users/me/sessions', { params: { query: { ...(cursor && { cursor }) } } })),
    { live: false },
  );
  const { value = [], reload } = loaded.value;
  const ordered = [...value].sort((a, b) =>
    a.current === b.current ? b.createdAt.localeCompare(a.createdAt) : a.current ? -1 : 1,
  );
  const others = ordered.filter(({ current }) => !current);
  const end = (id: string) => answer(api.DELETE('/api/v1/users/me/sessions/{id}', { params: { path: { id } } }));
  const endOne = (id: string) =>
    act(async () => {
      await end(id);
      say(words.ended);
      reload();
    });
  const endOthers = async () => {
    for (const { id } of others) await end(id);
    say(words.othersEnded(others.length));
    reload();
  };
  return (
    <section class="stack" aria-labelledby="sessions">
      <div class="row">
        <h2 id="sessions">{words.sessions}</h2>
        {others.length > 1 && (
          <button type="button" class="danger push" onClick={() => (asksForAll.value = true)}>
            {words.endOthers}
          </button>
        )}
      </div>
      <p class="dim">{words.sessionsWhy}</p>
      <ReadResult of={loaded.value} />
      <ProblemNotice problem={problem.value} />
      <ul class="lines">
        {ordered.map(({ id, current, createdAt, expiresAt }) => (
          <li key={id} class="row">
            <span>
              {words.began} <Time at={createdAt} />, {words.ends.toLowerCase()} <Time at={expiresAt} />
            </span>
            {current ? (
              <span class="tag accent">● {words.thisOne}</span>
            ) : (
              <button
                type="button"
                class="danger push"
                aria-label={`${words.end}: ${words.began} ${exactTime(createdAt)}`}
                disabled={isActing.value}
                onClick={() => endOne(id)}
              >
                {words.end}
              </button>
            )}
          </li>
        ))}
      </ul>
      {asksForAll.value && (
        <Confirm title={words.endTitle} act={words.endOthers} run={endOthers} close={() => (asksForAll.value = false)}>
          <p>{words.endWhy}</p>
        </Confirm>
      )}
    </section>
  );
}
