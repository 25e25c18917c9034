import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { workspaceId } from '../../api/workspace.ts';
import { connect as words } from '../../texts/connect.ts';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { Outcome } from '../agents/outcome.tsx';
import type { Issued } from './issued-token.tsx';

const ASKED_EACH_MS = 2_000;
const SHOWN = 5;

/** The newest calls with a token, as they arrive. */
export function FirstCall({ issued }: { issued: Issued }) {
  const loaded = useLoaded(() => answer(callsOf(issued)), { live: false, everyMs: ASKED_EACH_MS });
  const { name } = issued;
  return (
    <section class="stack-small" aria-live="polite" aria-label={words.first}>
      <h3>{words.first}</h3>
      <ReadResult of={loaded.value}>
        {({ items: calls }) =>
          calls.length === 0 ? (
            <p class="dim">{words.waiting(name)}</p>
          ) : (
            <>
              <p>
                <span class="tag ok">●</span> {words.arrived(name)}
              </p>
              <ul class="stack-small">
                {calls.map(({ seq, operation, outcome, at }) => (
                  <li key={seq} class="row">
                    <span class="break">
                      {words.called(name)} <code>{operation}</code>
                    </span>
                    <Outcome outcome={outcome} />
                    <Time at={at} />
                  </li>
                ))}
              </ul>
            </>
          )
        }
      </ReadResult>
    </section>
  );
}

function callsOf({ kind, id }: Issued) {
  const params = { path: { id }, query: { limit: SHOWN } };
  if (kind === 'agent') return api.GET('/api/v1/agents/{id}/calls', { params });
  // As when it was made: it belongs to one workspace.
  const header = { 'X-Workspace-Id': workspaceId.value ?? '' };
  return api.GET('/api/v1/users/me/api-tokens/{id}/calls', { params: { ...params, header } });
}
