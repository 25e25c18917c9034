import clients from '../../api/mcp-clients.json';
import { workspaceId } from '../../api/workspace.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { chosenTab, Tabs } from '../../ui/tabs.tsx';

interface Client {
  readonly client: string;
  /** The key of its file that servers are under. */
  readonly group: string;
  /** With `{server}`, `{token}` and `{workspace}` for what differs. */
  readonly entry: Readonly<Record<string, unknown>>;
  readonly name?: string;
  readonly place?: string;
  readonly afterwards?: string;
}

const CLIENTS: readonly Client[] = clients;
const NAMES: Readonly<Record<string, string>> = { generic: 'Other, over HTTP', stdio: 'Other, by a command' };
/** Those with a file of their own first. */
const OPTIONS = CLIENTS.toSorted((a, b) => Number(b.name !== undefined) - Number(a.name !== undefined)).map(
  ({ client, name }) => [client, name ?? NAMES[client] ?? client] as const,
);

/** What goes into the configuration of one client, as `mesh mcp config` writes it. */
export function ClientEntry({ server, token }: { server: string; token: string }) {
  const chosen = chosenTab('client', OPTIONS);
  const found = CLIENTS.find(({ client }) => client === chosen);
  if (!found) return null;
  const { group, entry, place = 'the file that the client reads', afterwards = 'start the client again' } = found;
  const values = { server: URL.parse(server)?.origin ?? server, token, workspace: workspaceId.value ?? '' };
  const text = JSON.stringify({ [group]: { mesh: filled(entry, values) } }, null, 2);
  return (
    <section class="stack-small">
      <Tabs label="Client" name="client" options={OPTIONS} />
      {'command' in entry && <p>It starts the command mesh, which has to be installed on that machine.</p>}
      <CodeBlock label={`Goes into ${place}`} text={text} />
      <p>Then {afterwards}.</p>
    </section>
  );
}

function filled(value: unknown, values: Readonly<Record<string, string>>): unknown {
  if (typeof value === 'string') return value.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
  if (Array.isArray(value)) return value.map((each) => filled(each, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each, values)]));
}
