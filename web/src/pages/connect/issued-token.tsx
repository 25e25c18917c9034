import { useSignal } from '@preact/signals';
import { isLoopbackUrl } from '../../../../core/base/loopback.ts';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { workspaceId } from '../../api/workspace.ts';
import { Chip } from '../../design/chip.tsx';
import { linkTo } from '../../route/route.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { TextField } from '../../ui/field.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { Outcome } from '../agents/outcome.tsx';
import { ClientEntry } from './client-entry.tsx';

const ASKED_EACH_MS = 2_000;
const SHOWN = 5;

/** A token that was just made. */
export interface Issued {
  readonly kind: 'agent' | 'personal';
  /** Of the agent, or of the API token. */
  readonly id: string;
  readonly name: string;
  readonly token: string;
  readonly expiresAt: string;
}

export const madeTitle = (name: string) => `${name} is ready to connect`;

/** The token, shown this once, and how each client is told of it; then its first call. */
export function IssuedToken({ issued, another }: { issued: Issued; another: () => void }) {
  const { kind, name, token, expiresAt } = issued;
  const server = useSignal(location.origin);
  const isInClear = server.value.startsWith('http:') && !isLoopbackUrl(server.value);
  return (
    <section class="panel stack" aria-label={madeTitle(name)}>
      <div class="row">
        <h2 class="break">{madeTitle(name)}</h2>
        <span class="dim">
          It ends <Time at={expiresAt} />
        </span>
        <button type="button" class="push" onClick={another}>
          Connect another
        </button>
      </div>
      <p class="notice warn">The token is shown this once. When you leave this page it cannot be shown again.</p>
      <TextField label="Address of the control plane, as the client reaches it" value={server} autocomplete="off" />
      {isInClear && (
        <p class="notice warn">This address is not encrypted: the token would travel in clear. Use https.</p>
      )}
      <ClientEntry server={server.value} token={token} />
      <CodeBlock label="Token alone" text={token} />
      <FirstCall issued={issued} />
      {kind === 'agent' && (
        <p>
          <a href={linkTo('agents', [name])} class="break">
            See {name}
          </a>
        </p>
      )}
    </section>
  );
}

/** The newest calls with a token, as they arrive. */
function FirstCall({ issued }: { issued: Issued }) {
  const loaded = useLoaded(() => answer(callsOf(issued)), { live: false, everyMs: ASKED_EACH_MS });
  const { name } = issued;
  return (
    <section class="stack-small" aria-live="polite" aria-label="Its first call">
      <h3>Its first call</h3>
      <ReadResult of={loaded.value}>
        {({ items: calls }) =>
          calls.length === 0 ? (
            <p class="dim">Waiting for {name}. Its first call appears here by itself.</p>
          ) : (
            <>
              <p>
                <Chip tone="ok">●</Chip> {name} is connected.
              </p>
              <ul class="stack-small">
                {calls.map(({ seq, operation, outcome, at }) => (
                  <li key={seq} class="row">
                    <span class="break">
                      {name} called <code>{operation}</code>
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
