import { allPages } from '../../../api/all-pages.ts';
import { answer, api } from '../../../api/client.ts';
import { useLoaded } from '../../../api/load.ts';
import { hrefOf } from '../../../route/route.ts';
import { useAct } from '../../../ui/act.ts';
import { say } from '../../../ui/message.tsx';
import { ProblemNotice } from '../../../ui/problem.tsx';
import { ReadResult } from '../../../ui/read-result.tsx';
import { Time } from '../../../ui/time.tsx';

/** The OAuth clients that act for the person, the newest first. */
export function ClientGrants() {
  const { isActing, problem, act } = useAct();
  const loaded = useLoaded(
    () =>
      allPages((cursor) => api.GET('/api/v1/users/me/grants', { params: { query: { ...(cursor && { cursor }) } } })),
    { live: false },
  );
  const { value = [], reload } = loaded.value;
  const end = (id: string) =>
    act(async () => {
      await answer(api.DELETE('/api/v1/users/me/grants/{id}', { params: { path: { id } } }));
      say('The client is signed out.');
      reload();
    });
  return (
    <section class="stack" aria-labelledby="clients">
      <h2 id="clients">OAuth clients</h2>
      <p class="dim">Programs that signed in for you, each as an agent of yours. Sign out those that you do not use.</p>
      <ReadResult of={loaded.value} />
      <ProblemNotice problem={problem.value} />
      {loaded.value.value?.length === 0 && <p class="dim">No client acts for you.</p>}
      <ul class="lines">
        {[...value]
          .sort((a, b) => b.grantedAt.localeCompare(a.grantedAt))
          .map(({ id, client, workspace, agent, grantedAt, expiresAt }) => (
            <li key={id} class="row">
              <strong class="break">{client.name}</strong>
              <code>{client.host}</code>
              <span>
                as <a href={hrefOf({ workspace, page: 'agents', rest: [agent] })}>{agent}</a>, allowed{' '}
                <Time at={grantedAt} />, ends <Time at={expiresAt} />
              </span>
              <button
                type="button"
                class="danger push"
                aria-label={`Sign out ${client.name}`}
                disabled={isActing.value}
                onClick={() => end(id)}
              >
                Sign out
              </button>
            </li>
          ))}
      </ul>
    </section>
  );
}
