import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { components } from '../../api/schema.d.ts';
import { waiting } from '../../api/waiting.ts';
import { write } from '../../api/write.ts';
import { Confirm } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import type { Agent } from './words.ts';

const revoked = (name: string, count: number) =>
  count === 1 ? `${name} is revoked.` : `${name} is revoked, and ${count - 1} below it.`;

const GOING = {
  revoked: 'Agents',
  peers: 'Peers',
  policies: 'Policies they wrote',
  tokens: 'Join tokens',
  workflows: 'Pending changes',
  plans: 'Open plans',
} as const;

type Going = components['schemas']['RevokeAgentResponse'];

/** Asks for the name of the agent, after it has told what ends with it. */
export function RevokeAgent({ agent, close }: { agent: Agent; close: () => void }) {
  const { id, name } = agent;
  const params = { path: { id } };
  const loaded = useLoaded(() => answer(api.DELETE('/api/v1/agents/{id}', { params, body: { dryRun: true } })), {
    live: false,
  });
  const { value } = loaded.value;
  const going = value && 'revoked' in value ? value : undefined;
  const revoke = () =>
    write(
      api.DELETE('/api/v1/agents/{id}', { params, body: { dryRun: false, revision: agent.revision } }),
      revoked(name, going?.revoked.length ?? 1),
    );
  return (
    <Confirm
      title={`Revoke ${name}?`}
      act="Revoke agent"
      name={name}
      isReady={going !== undefined}
      run={revoke}
      close={close}
    >
      <ReadResult of={loaded.value}>{(ending) => 'revoked' in ending && <Ending going={ending} />}</ReadResult>
    </Confirm>
  );
}

const KINDS = Object.entries(GOING) as [keyof typeof GOING, string][];

function Ending({ going }: { going: Going }) {
  return (
    <>
      <p>These end at once. This cannot be undone.</p>
      <Facts facts={KINDS.map(([kind, title]) => [title, going[kind].length > 0 && told(kind, going[kind])])} />
    </>
  );
}

/** Names of one kind in the dialog. */
const NAMED = 20;
/** Policies of a preset are named after the id of their agent. */
const BY_ID = /^agt_/;

/** How many end, and those of them that people know by a name. */
function told(kind: keyof typeof GOING, all: readonly string[]): string {
  const names = namesOf(kind, all);
  const shown = names.slice(0, NAMED).join(', ');
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  return shown === '' ? String(all.length) : `${all.length}: ${shown}${more}`;
}

function namesOf(kind: keyof typeof GOING, all: readonly string[]): readonly string[] {
  if (kind === 'plans') return [];
  if (kind === 'policies') return all.filter((name) => !BY_ID.test(name));
  if (kind !== 'workflows') return all;
  return waiting.value.value?.workflows.filter(({ id }) => all.includes(id)).map(({ summary }) => summary) ?? [];
}
