import { useSignal } from '@preact/signals';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { components } from '../../api/schema.d.ts';
import { may } from '../../api/workspace.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { Time } from '../../ui/time.tsx';
import { Outcome } from './outcome.tsx';

type Call = components['schemas']['AgentCall'];

const ASKED_EACH_MS = 5_000;
const PAGE = 20;

/** What an agent called, newest first, as it goes on. */
export function AgentCalls({ id }: { id: string }) {
  if (!may('audit:read')) {
    return (
      <section class="stack-small">
        <h3>Calls of the agent</h3>
        <p class="dim">Only auditors and admins see calls.</p>
      </section>
    );
  }
  return <Calls id={id} />;
}

function Calls({ id }: { id: string }) {
  const wanted = useSignal(PAGE);
  const loaded = useLoaded(() => readCalls(id, wanted.value), { live: false, everyMs: ASKED_EACH_MS });
  return (
    <section class="stack-small">
      <h3>Calls of the agent</h3>
      <p class="dim small">Recent calls only. The audit log keeps every change.</p>
      <ReadResult of={loaded.value}>
        {({ calls, hasMore }) => (
          <>
            {calls.length === 0 && <p class="dim">No recent calls.</p>}
            <ul class="calls">
              {calls.map((call) => (
                <li key={call.seq}>
                  <CallDetails call={call} />
                </li>
              ))}
            </ul>
            {hasMore && (
              <div class="row">
                <button
                  type="button"
                  onClick={() => {
                    wanted.value += PAGE;
                  }}
                >
                  Load more
                </button>
              </div>
            )}
          </>
        )}
      </ReadResult>
    </section>
  );
}

function CallDetails({ call: { operation, outcome, face, at, input, result } }: { call: Call }) {
  const isRefused = outcome !== 'ok' && outcome !== 'pending_approval';
  return (
    <details>
      <summary>
        <code class="break">{operation}</code>
        <Outcome outcome={outcome} />
        <span class="dim small">{face.toUpperCase()}</span>
        <Time at={at} />
        {isRefused && <span class="break small reason">{result}</span>}
      </summary>
      <div class="stack-small">
        <CodeBlock label="Arguments" text={indented(input)} />
        {result !== '' && <CodeBlock label="Result" text={indented(result)} />}
      </div>
    </details>
  );
}

/** JSON is easier to read in lines; what was cut is JSON no more and stays as it is. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The newest ones, over as many pages as it takes. */
async function readCalls(id: string, wanted: number): Promise<{ calls: readonly Call[]; hasMore: boolean }> {
  const calls: Call[] = [];
  let cursor: string | undefined;
  do {
    const limit = Math.min(200, wanted - calls.length);
    const query = { limit, ...(cursor && { cursor }) };
    const page = await answer(api.GET('/api/v1/agents/{id}/calls', { params: { path: { id }, query } }));
    calls.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== undefined && calls.length < wanted);
  return { calls, hasMore: cursor !== undefined };
}
