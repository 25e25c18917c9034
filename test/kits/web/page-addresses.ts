import type { PageName } from '../../../web/src/pages/names.ts';
import { PEOPLE, type SeededNetwork } from './seeded-network.ts';

export type { PageName };

/**
 * Where each page is looked at, in the workspace of the seeded network: the page, its tabs, and one of what it lists. A page
 * that is not here is refused by the compiler.
 */
export function addressesOf({ ids, words }: SeededNetwork): Record<PageName, readonly string[]> {
  const one = (page: string, name: string) => `${page}/${encodeURIComponent(name)}`;
  const { peers, policies } = words;
  return {
    home: ['home'],
    setup: ['setup/device', 'setup/policy', 'setup/agent'],
    review: [
      'review',
      ...[ids.waits, ids.done, ids.refused].map((id) => one('review', id)),
      one('review/peer', peers.waiting),
    ],
    change: ['change', `change?intent=${encodeURIComponent(words.question)}`],
    peers: ['peers', 'peers?q=web', one('peers', 'db-1'), one('peers', peers.laptop), one('peers', peers.build)],
    topology: ['topology?by=role', 'topology?by=role&one=label+web', 'topology?by=role&one=label+web&other=label+api'],
    reachability: ['reachability?by=role', 'reachability?src=role%3Dweb&dst=role%3Ddb', 'reachability?dst=role%3Ddb'],
    networks: ['networks', 'networks/default', one('networks', words.network), 'networks?view=new'],
    policies: [
      'policies',
      'policies?view=new',
      'policies?view=tests',
      one('policies', policies.closed),
      'policies/laptop-to-web',
    ],
    join: ['join'],
    time: ['time', 'time?view=compare'],
    ask: ['ask', `ask?q=${encodeURIComponent(words.question)}`],
    agents: ['agents', one('agents', words.agents.first), one('agents', words.agents.below)],
    connect: ['connect'],
    allow: [one('allow', ids.clientRequest)],
    compliance: [
      'compliance/assessments',
      one('compliance/assessments', ids.evidence),
      'compliance/drift',
      'compliance/reviews',
      one('compliance/reviews', ids.review),
      'compliance/keys',
    ],
    audit: ['audit', one('audit', ids.entry), 'audit?log=installation'],
    settings: [
      ...['account', 'people', 'people/olga', 'tokens', 'workspace', 'webhooks', 'workspaces', 'system'].map(
        (tab) => `settings/${tab}`,
      ),
      one('settings/webhooks', ids.webhook),
    ],
  };
}

/** Names of what is listed on them. */
export function namesIn({ ids, words, peers }: SeededNetwork): readonly string[] {
  const { first, below } = words.agents;
  const { closed, open } = words.policies;
  const written = [words.joinToken, words.apiToken, words.network, words.assertion, first, below, closed, open];
  return [...Object.values(ids), ...Object.keys(PEOPLE), 'admin', ...peers, ...written];
}
