import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { readAgents } from '../../api/agents.ts';
import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import { Problem } from '../../api/problem.ts';
import type { components } from '../../api/schema.d.ts';
import type { Scope } from '../../api/scopes.ts';
import { scopeWords } from '../../api/scopes.ts';
import { me } from '../../api/session.ts';
import type { Agent } from '../../api/types.ts';
import { may, workspace, workspaceId } from '../../api/workspace.ts';
import { Select } from '../../design/select.tsx';
import { goTo, hrefOf, linkTo, route } from '../../route/route.ts';
import { useAct } from '../../ui/act.ts';
import { Facts } from '../../ui/facts.tsx';
import { SelectField } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { ProblemNotice } from '../../ui/problem.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import { LIVES, PRESETS, type Preset, ReachField, ScopeChoice, Summary } from '../connect/authority-fields.tsx';
import '../connect/connect.css';
import { reachFault, reachOf } from '../connect/reach-of.ts';
import { CommandLine } from './command-line.tsx';
import { EnterCode } from './enter-code.tsx';

type ClientRequest = Extract<components['schemas']['GetClientRequestResponse'], { client: unknown }>;

/** Given unless the person says otherwise, of what the client asks for. */
const USUAL: readonly string[] = ['network:read', 'snapshots:read', 'intents:plan'];
/** A scope of agents alone: no role of a person has it. */
const OF_AGENTS = 'agents:delegate';
/** How the ids of requests begin that devices make. */
const OF_DEVICE = 'device-';

/** Asks whether a client may act for this person, and how far; without a request, for the code that a device shows. */
export default function Allow() {
  const [id = ''] = route.value.rest;
  return <RequestOrCode key={id} id={id} />;
}

function RequestOrCode({ id }: { id: string }) {
  const typed = useSignal({ code: '', count: 0 });
  const { code, count } = typed.value;
  const enter = (next: string) => (typed.value = { code: next, count: count + 1 });
  if (code !== '')
    return <Request key={count} id={`${OF_DEVICE}${code}`} unknown={<EnterCode wrong={code} enter={enter} />} />;
  // A link never names the request of a device: the person types the code that they see.
  if (id === '' || id.startsWith(OF_DEVICE)) return <EnterCode enter={enter} />;
  return <Request id={id} />;
}

/** @param unknown stands in place of a request that there is not */
function Request({ id, unknown }: { id: string; unknown?: ComponentChildren }) {
  const params = { path: { id } };
  const loaded = useLoaded(() => answer(api.GET('/api/v1/oauth/requests/{id}', { params })), { live: false });
  const { problem } = loaded.value;
  if (problem?.code === 'not_found') {
    // To ask again finds it no more.
    return (
      unknown ?? (
        <Page title="Let a client in">
          <ProblemNotice problem={problem} />
        </Page>
      )
    );
  }
  return (
    <Page title="Let a client in">
      <ReadResult of={loaded.value}>
        {(request) => {
          if (request.isDecided) return <Decided />;
          if ('commandLine' in request) return <CommandLine id={id} of={request.commandLine} />;
          return <Asked id={id} request={request} />;
        }}
      </ReadResult>
    </Page>
  );
}

/** The agent that the client has from this person, which is changed: what it has is chosen at first. */
function Asked({ id, request }: { id: string; request: ClientRequest }) {
  const loaded = useLoaded(
    async () => {
      workspaceId.value;
      const agents = may('agents:write') ? await readAgents(false) : [];
      const isOwn = ({ client, person }: Agent) => client?.key === request.client.key && person === me.value?.username;
      return { agent: agents.find(isOwn) };
    },
    { live: false },
  );
  return (
    <ReadResult of={loaded.value}>
      {({ agent }) => <Consent key={agent?.id ?? workspace.value?.slug} id={id} request={request} agent={agent} />}
    </ReadResult>
  );
}

function Consent({ id, request, agent }: { id: string; request: ClientRequest; agent: Agent | undefined }) {
  const { client, origin, resource, scopes: asked } = request;
  const held = asked.filter((scope) => (scope === OF_AGENTS ? may('agents:write') : may(scope)));
  const notHeld = asked.filter((scope) => !held.includes(scope));
  const chosen = useSignal<readonly Scope[]>(held.filter((scope) => (agent?.scopes ?? USUAL).includes(scope)));
  const [life, preset] = [useSignal(agent?.ttl ?? '24h'), useSignal<string>(agent?.policyPreset ?? 'sandboxed')];
  const reach = useSignal('');
  const keepsReach = useSignal((agent?.reach ?? []).length > 0);
  const waitsIn = useSignal<string | undefined>(undefined);
  const decided = useSignal<'Allowed' | 'Denied' | undefined>(undefined);
  const { isActing, problem, act } = useAct();
  const read = keepsReach.value ? { rules: agent?.reach ?? [] } : reachOf(reach.value);
  const isOnly = me.value?.workspaces.length === 1;
  const params = { path: { id } };
  const scopes = chosen.value.filter((scope) => held.includes(scope));

  const allow = (event: Event) => {
    event.preventDefault();
    return act(async () => {
      if ('wrong' in read) throw new Problem({ title: reachFault(read.wrong) });
      const policyPreset = preset.value as Preset;
      const body = { scopes: [...scopes], ttl: life.value, policyPreset, reach: [...read.rules] };
      const written = await answer(api.POST('/api/v1/oauth/requests/{id}/allow', { params, body }));
      if ('workflow_id' in written) waitsIn.value = written.workflow_id;
      else goOn(written.url, 'Allowed');
    });
  };
  /** A device goes on by itself. */
  const goOn = (url: string | undefined, decision: 'Allowed' | 'Denied') => {
    if (url === undefined) decided.value = decision;
    else location.assign(url);
  };
  const deny = () =>
    act(async () => {
      const written = await answer(api.POST('/api/v1/oauth/requests/{id}/deny', { params }));
      if (!('workflow_id' in written)) goOn(written.url, 'Denied');
    });
  if (decided.value) {
    return (
      <p class="notice" role="status">
        <strong>{decided.value}.</strong>{' '}
        {decided.value === 'Allowed' ? `${client.name} acts for you.` : `${client.name} may not act for you.`} Go back
        to the device.
      </p>
    );
  }
  return (
    <Form problem={problem} class="panel stack" onSubmit={allow}>
      <h2 class="break">{client.name} asks to act for you</h2>
      <p class="dim">
        If you allow it, the client gets an agent of your own: it ends when you say, when you revoke it under Agents,
        and when you leave. It never approves.
      </p>
      {agent && (
        <p>
          It acts for you already, as <a href={linkTo('agents', [agent.name])}>{agent.name}</a>: what you allow replaces
          what that agent may do.
        </p>
      )}
      <p class="notice warn">
        {origin
          ? 'Only allow it if you read the code on a device of your own. Who sent you a code gets all that you allow.'
          : 'Only allow a client that you have just connected yourself.'}
      </p>
      <Facts
        facts={[
          ['Calls itself', `${client.name}. ${nameWords(client)}`],
          ['Asks from', origin && <strong key="origin">another device, at {origin}</strong>],
          ['Codes are sent to', client.redirectUri && <strong key="host">{hostWords(client)}</strong>],
          ['To use', <code key="resource">{resource}</code>],
          ['Workspace', isOnly && workspace.value?.displayName],
        ]}
      />
      <WorkspaceChoice />
      {may('agents:write') ? (
        <>
          <ScopeChoice legend="What it may do" offered={held as Scope[]} chosen={chosen} />
          {notHeld.length > 0 && <p class="dim">It also asks for what you cannot give here: {scopeWords(notHeld)}.</p>}
          <div class="connect-form">
            <SelectField label="Ends after" fields={['ttl', 'expiry']} value={life} options={livesWith(life.value)} />
            {scopes.includes(OF_AGENTS) && (
              <SelectField label="Limit of its sub-agents" fields={['policyPreset']} value={preset} options={PRESETS} />
            )}
          </div>
          {(agent?.reach ?? []).length > 0 && <KeepsReach value={keepsReach} />}
          {!keepsReach.value && <ReachField value={reach} />}
          <Summary name={client.name} scopes={scopes} read={read} />
        </>
      ) : (
        <p class="notice">
          Only an administrator of a workspace makes agents. Ask one to connect this client, or for a token.
        </p>
      )}
      <ProblemNotice problem={problem.value} />
      {waitsIn.value && (
        <p class="notice warn" role="status">
          A second person has to approve this first. Once approved, connect the client again and allow the same.{' '}
          <a href={linkTo('review', [waitsIn.value])}>Open in Review</a>
        </p>
      )}
      <div class="row">
        {may('agents:write') && (
          <button type="submit" class="primary" disabled={isActing.value || scopes.length === 0}>
            Allow
          </button>
        )}
        <button type="button" disabled={isActing.value} onClick={() => void deny()}>
          Deny
        </button>
      </div>
    </Form>
  );
}

/** One that somebody gave elsewhere is offered too. */
function livesWith(life: string): typeof LIVES {
  return LIVES.some(([one]) => one === life) ? LIVES : [[life, life], ...LIVES];
}

function KeepsReach({ value }: { value: Signal<boolean> }) {
  return (
    <label class="choice">
      <input
        type="checkbox"
        checked={value.value}
        onChange={({ currentTarget }) => {
          value.value = currentTarget.checked;
        }}
      />
      <span>Keep what it may open by itself</span>
    </label>
  );
}

function Decided() {
  return (
    <p class="notice">
      This request was decided. Go back to where it was made; if that still waits, begin again there.
    </p>
  );
}

/** Any program on a machine can use the document of another, so a name is never more than this. */
function nameWords({ document }: ClientRequest['client']): string {
  if (document === undefined) return 'Nobody checked this name.';
  return `So ${new URL(document).host} describes it; check that codes go where you expect.`;
}

function hostWords({ host, redirectUri = '' }: ClientRequest['client']): string {
  const { protocol, host: address } = new URL(redirectUri);
  if (protocol === 'https:') return host;
  return protocol === 'http:' ? `a program on this machine (${address})` : `an application on this machine (${host}:)`;
}

/** The agent is made in one workspace: another one is another page, with what the person may give there. */
function WorkspaceChoice() {
  const all = me.value?.workspaces ?? [];
  if (all.length < 2) return null;
  return (
    <Select
      label="Workspace"
      options={all.map(({ slug, displayName }) => ({ value: slug, text: displayName }))}
      value={workspace.value?.slug}
      change={(slug) => goTo(hrefOf({ workspace: slug, page: 'allow', rest: route.value.rest }))}
    />
  );
}
