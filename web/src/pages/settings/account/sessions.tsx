import { useSignal } from '@preact/signals';
import { allPages } from '../../../api/all-pages.ts';
import { answer, api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import { signOutEverywhere } from '../../../api/sign-in.ts';
import { Chip } from '../../../design/chip.tsx';
import { useAct } from '../../../ui/act.ts';
import { Confirm } from '../../../ui/dialog.tsx';
import { say } from '../../../ui/message.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { exactTime, Time } from '../../../ui/time.tsx';
import { othersEnded } from './others-ended.ts';

/** @param _ended how often others ended, so that they are read anew */
function readAfter(_ended: number) {
  return allPages((cursor) =>
    api.GET('/api/v1/users/me/sessions', { params: { query: { ...(cursor && { cursor }) } } }),
  );
}

/** Where the person is signed in, this session first, then the newest. */
export function Sessions() {
  const asksForAll = useSignal(false);
  const asksForEverything = useSignal(false);
  const { isActing, problem, act } = useAct();
  const loaded = useLoaded(() => readAfter(othersEnded.value), { live: false });
  const { value = [], reload } = loaded.value;
  const ordered = [...value].sort((a, b) =>
    a.current === b.current ? b.createdAt.localeCompare(a.createdAt) : a.current ? -1 : 1,
  );
  const others = ordered.filter(({ current }) => !current);
  const end = (id: string) => answer(api.DELETE('/api/v1/users/me/sessions/{id}', { params: { path: { id } } }));
  const endOne = (id: string) =>
    act(async () => {
      await end(id);
      say('The session is ended.');
      reload();
    });
  const endOthers = async () => {
    for (const { id } of others) await end(id);
    say(`${others.length} ${others.length === 1 ? 'session' : 'sessions'} ended.`);
    reload();
  };
  return (
    <section class="stack" aria-labelledby="sessions">
      <div class="row">
        <h2 id="sessions">Sessions</h2>
        {others.length > 1 && (
          <button type="button" class="danger push" onClick={() => (asksForAll.value = true)}>
            End all others
          </button>
        )}
        <button
          type="button"
          class={others.length > 1 ? 'danger' : 'danger push'}
          onClick={() => (asksForEverything.value = true)}
        >
          Sign out everywhere
        </button>
      </div>
      <p class="dim">Where you are signed in. End sessions that you do not recognize.</p>
      <ReadResult of={loaded.value} />
      <ProblemNotice problem={problem.value} />
      <ul class="lines">
        {ordered.map(({ id, current, createdAt, expiresAt, client, origin, usedAt }) => (
          <li key={id} class="row">
            <strong>{client ?? 'Unknown client'}</strong>
            {origin && <code>{origin}</code>}
            <span>
              {usedAt && (
                <>
                  last used <Time at={usedAt} />,{' '}
                </>
              )}
              started <Time at={createdAt} />, ends <Time at={expiresAt} />
            </span>
            {current ? (
              <Chip tone="accent">● this session</Chip>
            ) : (
              <button
                type="button"
                class="danger push"
                aria-label={`End session: started ${exactTime(createdAt)}`}
                disabled={isActing.value}
                onClick={() => endOne(id)}
              >
                End session
              </button>
            )}
          </li>
        ))}
      </ul>
      {asksForAll.value && (
        <Confirm
          title="End every other session?"
          act="End all others"
          run={endOthers}
          close={() => (asksForAll.value = false)}
        >
          <p>All other browsers have to sign in again.</p>
        </Confirm>
      )}
      {asksForEverything.value && (
        <Confirm
          title="Sign out everywhere?"
          act="Sign out everywhere"
          run={signOutEverywhere}
          close={() => (asksForEverything.value = false)}
        >
          <p>Every session ends, this one too, and every OAuth client is signed out. Agents and API tokens go on.</p>
        </Confirm>
      )}
    </section>
  );
}
