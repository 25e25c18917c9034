import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { Chip } from '../../design/chip.tsx';
import { linkTo } from '../../route/route.ts';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';

const SHOWN = 20;

/** The changes that an agent put forward, newest first, and what became of each. */
export function AgentChanges({ name }: { name: string }) {
  const loaded = useLoaded(() =>
    answer(api.GET('/api/v1/workflows', { params: { query: { requested_by: `agent:${name}`, limit: SHOWN } } })),
  );
  return (
    <section class="stack-small">
      <h3>Changes it requested</h3>
      <ReadResult of={loaded.value}>
        {({ items }) => (
          <>
            {items.length === 0 && <p class="dim">No changes requested.</p>}
            <ul class="stack-small">
              {items.map(({ id, summary, status, requestedAt }) => (
                <li key={id} class="row">
                  <a href={linkTo('review', [id])} class="break">
                    {summary}
                  </a>
                  <Chip tone={status === 'executed' ? 'ok' : status === 'pending' ? 'warn' : ''}>{status}</Chip>
                  <Time at={requestedAt} />
                </li>
              ))}
            </ul>
          </>
        )}
      </ReadResult>
    </section>
  );
}
