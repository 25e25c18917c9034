import { answer, api } from '../../api/client.ts';
import { useLoaded } from '../../api/load.ts';
import type { components } from '../../api/schema.d.ts';
import { actorText } from '../../design/actor-words.ts';
import { Chip } from '../../design/chip.tsx';
import { portsText } from '../../reach/ports.ts';
import { linkTo, queryPart } from '../../route/route.ts';
import { type AgentNames, withAgentNames } from '../../ui/agent-names.ts';
import { Facts } from '../../ui/facts.tsx';
import { ReadResult } from '../../ui/read-result.tsx';
import './peers.css';

type Access = components['schemas']['GetPeerAccessResponse'];

/**
 * Access of a device in both directions with its policies and join token, now or at the moment that is looked at; for a pending
 * device, as it would be.
 */
export function PeerAccess({ id, agents }: { id: string; agents: AgentNames | undefined }) {
  const loaded = useLoaded(() => {
    const at = queryPart('at');
    const query = at === null ? {} : { at };
    return answer(api.GET('/api/v1/peers/{id}/access', { params: { path: { id }, query } }));
  });
  return (
    <section class="stack-small" aria-label="Access">
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
      {isAhead && <h3>Access after approval</h3>}
      <Direction title={isAhead ? 'Will reach' : 'Can reach'} rows={reaches} agents={agents} />
      <Direction title={isAhead ? 'Will be reached by' : 'Can be reached by'} rows={reachedBy} agents={agents} />
      {omitted > 0 && <p class="dim small">{omitted} more rows.</p>}
      <Facts
        facts={[
          ['Joined with', joined.token_by !== null && tokenText(joined.token, joined.token_by)],
          ['Joined as', joined.workload && `${joined.workload.subject}, of ${joined.workload.issuer}`],
        ]}
      />
    </>
  );
}

function tokenText(token: string | null, by: string): string {
  const owner = actorText(by);
  return token === null ? `a deleted join token of ${owner}` : `join token ${token} of ${owner}`;
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
      {rows.length === 0 && <p class="dim">No peers.</p>}
      <ul class="access">
        {rows.map(({ who, outside, allowed, policies }) => (
          <li key={JSON.stringify([who, outside, allowed])}>
            <span class="chips">
              {who.map((name) => (
                <Chip key={name}>{named(name)}</Chip>
              ))}
              {outside.length > 0 && <Chip>{outsideText(outside)}</Chip>}
            </span>
            <code class="chip port">{portsText(allowed)}</code>
            <span class="dim small break">
              {policies.length === 0 && 'no policy isolates it'}
              {policies.map((policy, index) => (
                <span key={policy}>
                  {index > 0 && ', '}
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

function outsideText(ranges: readonly string[]): string {
  const text = ranges.join(', ');
  return text.startsWith('outside') ? text : `outside: ${text}`;
}
