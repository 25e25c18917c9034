import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { components } from '../../api/schema.d.ts';
import { portsText } from '../../reach/ports.ts';
import { linkTo } from '../../route/route.ts';
import { peers as words } from '../../texts/peers.ts';
import { type AgentNames, withAgentNames } from '../../ui/agent-names.ts';
import { Facts } from '../../ui/facts.tsx';
import { ReadResult } from '../../ui/read-result.tsx';

type Access = components['schemas']['GetPeerAccessResponse'];

/** Access of a device in both directions with its policies and join token; for a pending device, as it would be. */
export function PeerAccess({ id, agents }: { id: string; agents: AgentNames | undefined }) {
  const loaded = useLoaded(() => answer(api.GET('/api/v1/peers/{id}/access', { params: { path: { id } } })));
  return (
    <section class="stack-small" aria-label={words.access}>
      <ReadResult of={loaded.value}>{(access) => <AccessView access={access} agents={agents} />}</ReadResult>
    </section>
  );
}

function AccessView({
  access: { once_let_in: isAhead, reaches, reached_by: reachedBy, joined, omitted },
  agents,
}: AccessProps) {
  return (
    <>
      <h3>{isAhead ? words.accessAhead : words.access}</h3>
      <Direction title={words.reaches} rows={reaches} agents={agents} />
      <Direction title={words.reachedBy} rows={reachedBy} agents={agents} />
      {omitted > 0 && <p class="dim small">{words.moreAccess(omitted)}</p>}
      <Facts facts={[[words.joinedWith, joined.token_by !== null && words.tokenOf(joined.token, joined.token_by)]]} />
    </>
  );
}

interface AccessProps {
  readonly access: Access;
  readonly agents: AgentNames | undefined;
}

interface DirectionProps {
  readonly title: string;
  readonly rows: Access['reaches'];
  readonly agents: AgentNames | undefined;
}

function Direction({ title, rows, agents }: DirectionProps) {
  const named = (text: string) => withAgentNames(text, agents);
  return (
    <>
      <h4>{title}</h4>
      {rows.length === 0 && <p class="dim">{words.nobody}</p>}
      <ul class="lines">
        {rows.map(({ who, outside, allowed, policies }) => (
          <li key={JSON.stringify([who, outside, allowed])} class="stack-small">
            <span class="row">
              {who.length > 0 && <span class="break">{named(who.join(', '))}</span>}
              {outside.length > 0 && <span class="break">{words.outside(outside)}</span>}
              <code>{portsText(allowed)}</code>
            </span>
            <span class="dim small break">
              {policies.length === 0 && words.byDefault}
              {policies.map((policy, index) => (
                <span key={policy}>
                  {index === 0 ? `${words.byPolicy} ` : ', '}
                  <a href={linkTo('policies', [policy])}>{named(policy)}</a>
                </span>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
