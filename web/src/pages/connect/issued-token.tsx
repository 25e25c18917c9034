import { useSignal } from '@preact/signals';
import { isLoopbackUrl } from '../../../../core/base/loopback.ts';
import { linkTo } from '../../route/route.ts';
import { connect as words } from '../../texts/connect.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { TextField } from '../../ui/field.tsx';
import { Time } from '../../ui/time.tsx';
import { ClientEntry } from './client-entry.tsx';
import { FirstCall } from './first-call.tsx';

/** A token that was just made. */
export interface Issued {
  readonly kind: 'agent' | 'personal';
  /** Of the agent, or of the API token. */
  readonly id: string;
  readonly name: string;
  readonly token: string;
  readonly expiresAt: string;
}

/** The token, shown this once, and how each client is told of it; then its first call. */
export function IssuedToken({ issued, another }: { issued: Issued; another: () => void }) {
  const { kind, name, token, expiresAt } = issued;
  const server = useSignal(location.origin);
  const isInClear = server.value.startsWith('http:') && !isLoopbackUrl(server.value);
  return (
    <section class="panel stack" aria-label={words.made(name)}>
      <div class="row">
        <h2 class="break">{words.made(name)}</h2>
        <span class="dim">
          {words.ends} <Time at={expiresAt} />
        </span>
        <button type="button" class="push" onClick={another}>
          {words.another}
        </button>
      </div>
      <p class="notice warn">{words.once}</p>
      <TextField label={words.server} value={server} autocomplete="off" />
      {isInClear && <p class="notice warn">{words.inClear}</p>}
      <ClientEntry server={server.value} token={token} />
      <CodeBlock label={words.token} text={token} />
      <FirstCall issued={issued} />
      {kind === 'agent' && (
        <p>
          <a href={linkTo('agents', [name])} class="break">
            {words.toAgent(name)}
          </a>
        </p>
      )}
    </section>
  );
}
