import { type Signal, useSignal } from '@preact/signals';
import { api } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import type { Scope } from '../../api/scopes.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { write } from '../../api/write.ts';
import { linkTo, route } from '../../route/route.ts';
import { useAct } from '../../ui/act.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import type { ruleWords } from '../agents/words.ts';
import { LIVES, PRESETS, type Preset, ReachField, ScopeBox, Summary } from './authority-fields.tsx';
import { type Issued, madeTitle } from './issued-token.tsx';
import { reachFault, reachOf } from './reach-of.ts';

const IDENTITIES = {
  agent: 'An agent of its own: the audit log, approvals and this page tell it from you',
  personal: 'Your own account: the audit log names you',
};
type Identity = keyof typeof IDENTITIES;

/** What a client needs to be of use: as `mesh mcp config` gives it. */
const USUAL: readonly Scope[] = ['network:read', 'snapshots:read', 'intents:plan', 'intents:apply'];
const OFFERED: readonly Scope[] = [...USUAL, 'agents:delegate', 'network:write', 'snapshots:write'];
const CAREFUL: readonly Scope[] = [
  'audit:read',
  'compliance:assess',
  'tokens:write',
  'peers:approve',
  'intents:override',
];
/** Of agents alone: no role of a person has it. */
const OF_AGENTS: Scope = 'agents:delegate';

/** Who the client speaks as, what it may do, how far and how long. */
export function ConnectForm({ made }: { made: (issued: Issued) => void }) {
  const mayMakeAgents = may('agents:write');
  const identity = useSignal<Identity>(mayMakeAgents ? 'agent' : 'personal');
  const [name, life, preset, reach] = [useSignal('ops-agent'), useSignal('24h'), useSignal('sandboxed'), useSignal('')];
  const chosen = useSignal<readonly Scope[]>(USUAL.filter((scope) => may(scope)));
  const waitsIn = useSignal<string | undefined>(undefined);
  const { isActing, problem, act } = useAct();
  const isAgent = identity.value === 'agent';
  const scopes = chosen.value.filter((scope) => isGrantable(scope, isAgent));
  const read = reachOf(reach.value);
  const isPast = route.value.query.has('at');

  const submit = (event: Event) => {
    event.preventDefault();
    waitsIn.value = undefined;
    return act(async () => {
      if ('wrong' in read) throw new Problem({ title: reachFault(read.wrong) });
      const own = { name: name.value, scopes: [...scopes] };
      const agent = { ...own, ttl: life.value, policyPreset: preset.value as Preset, reach: [...read.rules] };
      const written = await (isAgent ? makeAgent(agent) : makeToken({ ...own, expiry: life.value }));
      if ('workflow_id' in written) waitsIn.value = written.workflow_id;
      else made(written);
    });
  };
  return (
    <Form problem={problem} class="panel stack" onSubmit={submit}>
      <h2>With a token</h2>
      <p class="dim">
        {mayMakeAgents
          ? 'For clients that do not sign in by themselves. What an agent changes is planned first and waits for a person: no tool approves.'
          : 'A client that speaks in your name. Agents of their own are made by an administrator.'}
      </p>
      {mayMakeAgents && <Identities value={identity} />}
      <div class="connect-form">
        <TextField
          label="Name"
          hint="As approvals and the audit log show it."
          value={name}
          required
          autocomplete="off"
        />
        <SelectField label="Ends after" fields={['ttl', 'expiry']} value={life} options={LIVES} />
      </div>
      <Scopes chosen={chosen} isAgent={isAgent} />
      {isAgent && (
        <div class="connect-form">
          <ReachField value={reach} />
          {scopes.includes(OF_AGENTS) && (
            <SelectField label="Limit of its sub-agents" fields={['policyPreset']} value={preset} options={PRESETS} />
          )}
        </div>
      )}
      <Summary name={name.value} scopes={scopes} read={isAgent ? read : undefined} />
      <ProblemNotice problem={problem.value} />
      {waitsIn.value && (
        <p class="notice warn" role="status">
          A second person has to approve this first. Once approved, make it again with the same entries: the token is
          shown then. <a href={linkTo('review', [waitsIn.value])}>Open it in Review</a>
        </p>
      )}
      <div class="row">
        <button type="submit" class="primary" disabled={isActing.value || isPast || scopes.length === 0}>
          Create token
        </button>
      </div>
    </Form>
  );
}

/** A scope that who makes the token may pass on. */
function isGrantable(scope: Scope, isAgent: boolean): boolean {
  return scope === OF_AGENTS ? isAgent : may(scope);
}

function Identities({ value }: { value: Signal<Identity> }) {
  return (
    <fieldset class="choices">
      <legend>Identity</legend>
      {Object.entries(IDENTITIES).map(([name, text]) => (
        <label key={name} class="choice">
          <input
            type="radio"
            name="identity"
            checked={value.value === name}
            onChange={() => {
              value.value = name as Identity;
            }}
          />
          {text}
        </label>
      ))}
    </fieldset>
  );
}

function Scopes({ chosen, isAgent }: { chosen: Signal<readonly Scope[]>; isAgent: boolean }) {
  const box = (scope: Scope) => <ScopeBox key={scope} scope={scope} chosen={chosen} />;
  const offered = (scope: Scope) => isGrantable(scope, isAgent);
  const careful = CAREFUL.filter(offered);
  return (
    <fieldset class="choices">
      <legend>What it may do</legend>
      <p class="dim">It never approves, whatever is chosen.</p>
      <div class="connect-form">
        <div>{OFFERED.filter(offered).map(box)}</div>
        {careful.length > 0 && (
          <details>
            <summary>More permissions; choose with care</summary>
            {careful.map(box)}
          </details>
        )}
      </div>
    </fieldset>
  );
}

type Waiting = { readonly workflow_id: string };

async function makeAgent(body: {
  name: string;
  scopes: Scope[];
  ttl: string;
  policyPreset: Preset;
  reach: Parameters<typeof ruleWords>[0][];
}): Promise<Issued | Waiting> {
  // Uses of join tokens stay as the API has them.
  const call = api.POST('/api/v1/agents', { body: body as typeof body & { tokenUses: number } });
  const written = await write(call, madeTitle(body.name));
  if ('workflow_id' in written) return { workflow_id: written.workflow_id };
  const { id, token, identity } = written;
  return { kind: 'agent', id, token, name: identity.name, expiresAt: identity.expiresAt };
}

async function makeToken(body: { name: string; scopes: Scope[]; expiry: string }): Promise<Issued | Waiting> {
  // A token of an account is good for one workspace: named, as other calls about accounts name none.
  const params = { header: { 'X-Workspace-Id': workspaceId.value ?? '' } };
  const call = api.POST('/api/v1/users/me/api-tokens', { params, body });
  const written = await write(call, madeTitle(body.name));
  if ('workflow_id' in written) return { workflow_id: written.workflow_id };
  const { id, token, name, expiresAt } = written;
  return { kind: 'personal', id, token, name, expiresAt };
}
