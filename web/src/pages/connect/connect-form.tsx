import { type Signal, useSignal } from '@preact/signals';
import { api } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';
import { may, workspaceId } from '../../api/workspace.ts';
import { write } from '../../api/write.ts';
import { linkTo, route } from '../../route/route.ts';
import { agents as agentWords } from '../../texts/agents.ts';
import { connect as words } from '../../texts/connect.ts';
import { scopes as scopeTexts } from '../../texts/scopes.ts';
import { useAct } from '../../ui/act.ts';
import { SelectField, TextField } from '../../ui/field.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { ruleWords, scopeWords } from '../agents/words.ts';
import type { Issued } from './issued-token.tsx';
import { reachOf } from './reach-of.ts';

type Scope = keyof typeof scopeTexts;
type Preset = keyof typeof words.presets;
type Identity = keyof typeof words.identities;

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
const LIVES = Object.entries(words.lives);
const PRESETS = Object.entries(words.presets);

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
      if ('wrong' in read) throw new Problem({ title: words.reachWrong(read.wrong) });
      const own = { name: name.value, scopes: [...scopes] };
      const agent = { ...own, ttl: life.value, policyPreset: preset.value as Preset, reach: [...read.rules] };
      const written = await (isAgent ? makeAgent(agent) : makeToken({ ...own, expiry: life.value }));
      if ('workflow_id' in written) waitsIn.value = written.workflow_id;
      else made(written);
    });
  };
  return (
    <form class="panel stack" onSubmit={submit}>
      <p class="dim">{mayMakeAgents ? words.why : words.onlyPersonal}</p>
      {mayMakeAgents && <Identities value={identity} />}
      <div class="connect-form">
        <TextField label={words.name} hint={words.nameHint} value={name} required autocomplete="off" />
        <SelectField label={words.life} value={life} options={LIVES} />
      </div>
      <Scopes chosen={chosen} isAgent={isAgent} />
      {isAgent && (
        <div class="connect-form">
          <label class="field">
            {words.reach}
            <textarea
              rows={3}
              class="mono"
              spellcheck={false}
              value={reach.value}
              onInput={({ currentTarget }) => {
                reach.value = currentTarget.value;
              }}
            />
            <span class="hint dim">{words.reachHint}</span>
          </label>
          {scopes.includes(OF_AGENTS) && <SelectField label={words.preset} value={preset} options={PRESETS} />}
        </div>
      )}
      <p class="notice">
        <span class="break">
          <strong>{name.value}</strong> {agentWords.mayList(scopeWords(scopes)).toLowerCase()} {agentWords.never}{' '}
          {isAgent && <ReachSentence read={read} />}
        </span>
      </p>
      <ProblemNotice problem={problem.value} />
      {waitsIn.value && (
        <p class="notice warn" role="status">
          {words.waits} <a href={linkTo('review', [waitsIn.value])}>{words.toReview}</a>
        </p>
      )}
      <div class="row">
        <button type="submit" class="primary" disabled={isActing.value || isPast || scopes.length === 0}>
          {words.make}
        </button>
      </div>
    </form>
  );
}

/** A scope that who makes the token may pass on. */
function isGrantable(scope: Scope, isAgent: boolean): boolean {
  return scope === OF_AGENTS ? isAgent : may(scope);
}

function ReachSentence({ read }: { read: ReturnType<typeof reachOf> }) {
  if ('wrong' in read) return <span class="fault">{words.reachWrong(read.wrong)}</span>;
  if (read.rules.length === 0) return <>{agentWords.reachNothing}</>;
  return (
    <>
      {agentWords.reach}: {read.rules.map(ruleWords).join('; ')}.
    </>
  );
}

function Identities({ value }: { value: Signal<Identity> }) {
  return (
    <fieldset class="choices">
      <legend>{words.identity}</legend>
      {Object.entries(words.identities).map(([name, text]) => (
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
  const box = (scope: Scope) => (
    <label key={scope} class="choice">
      <input
        type="checkbox"
        checked={chosen.value.includes(scope)}
        onChange={({ currentTarget }) => {
          const others = chosen.value.filter((other) => other !== scope);
          chosen.value = currentTarget.checked ? [...others, scope] : others;
        }}
      />
      <span>
        {scopeTexts[scope]} <code class="dim">{scope}</code>
      </span>
    </label>
  );
  const offered = (scope: Scope) => isGrantable(scope, isAgent);
  const careful = CAREFUL.filter(offered);
  return (
    <fieldset class="choices">
      <legend>{words.scopes}</legend>
      <p class="dim">{words.always}</p>
      <div class="connect-form">
        <div>{OFFERED.filter(offered).map(box)}</div>
        {careful.length > 0 && (
          <details>
            <summary>{words.careful}</summary>
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
  const written = await write(call, words.made(body.name));
  if ('workflow_id' in written) return { workflow_id: written.workflow_id };
  const { id, token, identity } = written;
  return { kind: 'agent', id, token, name: identity.name, expiresAt: identity.expiresAt };
}

async function makeToken(body: { name: string; scopes: Scope[]; expiry: string }): Promise<Issued | Waiting> {
  // A token of an account is good for one workspace: named, as other calls about accounts name none.
  const params = { header: { 'X-Workspace-Id': workspaceId.value ?? '' } };
  const call = api.POST('/api/v1/users/me/api-tokens', { params, body });
  const written = await write(call, words.made(body.name));
  if ('workflow_id' in written) return { workflow_id: written.workflow_id };
  const { id, token, name, expiresAt } = written;
  return { kind: 'personal', id, token, name, expiresAt };
}
