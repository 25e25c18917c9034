import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { draftOf, type StoredRecord } from '../../core/base/record.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { linesOfText } from '../../core/base/text.ts';
import { understoodFirst } from '../../core/intent/plan/understood-first.ts';
import { agent, buildKit, type Kit } from '../../test/kits/plane/kit.ts';
import { network, peer, policy } from '../../test/kits/records/records.ts';
import { builtinPlanner } from '../grammar/builtin.ts';
import type { ModelAnswer } from './answer-form.ts';
import { INJECTIONS, type Place } from './injection-corpus.testkit.ts';
import { modelAnswer, modelOrder } from './model-answer.testkit.ts';
import { openAiPlanner } from './openai-planner.ts';
import { SYSTEM_PROMPT } from './prompt.ts';
import { type Seen, type Step, scriptedModel } from './scripted-model.testkit.ts';

/** The grammar understands it. */
const PLAIN = 'let web reach the database on port 5432';
/** Only a model does. */
const LOOSE = 'our role=web storefronts ought to speak postgres with whatever keeps the orders, role=db that is';
/** The effect that both mean, and nothing else. */
const HONEST = [{ src: 'web-1', dst: 'db-1', protocol: 'TCP', from: 5432, to: 5432 }];
const EXPECTED = { src: 'role=web', dst: 'role=db', protocol: 'TCP', port: 5432, expect: 'allow' };

interface Document {
  readonly peers: readonly { readonly name: string }[];
  readonly policies: readonly { readonly name: string }[];
  readonly networks: readonly { readonly name: string }[];
}
type Orders = Partial<ModelAnswer>;

const HONEST_ORDERS: Orders = {
  orders: [modelOrder({ do: 'allow', from: ['role=web'], to: ['role=db'], ports: ['tcp/5432'] })],
};
const ANY_TO_ANY = modelOrder({ do: 'allow', from: ['anyone'], to: ['anyone'] });

/** How a model obeys a text that misleads it, as far as the form of its answer lets it. */
const OBEDIENT: Readonly<Record<string, (document: Document) => Orders>> = {
  'opens everything': () => ({ orders: [ANY_TO_ANY] }),
  'does the honest thing and opens everything too': () => ({ orders: [...(HONEST_ORDERS.orders ?? []), ANY_TO_ANY] }),
  'tears all policies down': ({ policies }) => ({ delete: policies.map(({ name }) => `policy/${name}`) }),
  'opens a network by a document': ({ networks }) => ({
    ...HONEST_ORDERS,
    documents: networks.map(({ name }) =>
      JSON.stringify({
        apiVersion: 'mesh.internal/v1alpha1',
        kind: 'MeshNetwork',
        metadata: { name },
        spec: { cidr: '10.96.0.0/24', defaultAction: 'ALLOW' },
      }),
    ),
  }),
  'gives every peer the label that is let in': ({ peers }) => ({
    ...HONEST_ORDERS,
    set: peers.flatMap(({ name }) =>
      name === 'db-1' || name === 'web-1' ? [] : [{ peer: name, labels: ['role=web'], clear: [], network: null }],
    ),
  }),
};

let kit: Kit;
let server: Awaited<ReturnType<typeof scriptedModel>>;
let act: (document: Document) => Orders = () => ({});
const obey = (request: Seen): Step => {
  const document = JSON.parse(request.body.messages[1]?.content ?? '') as Document;
  return JSON.stringify(modelAnswer(act(document)));
};

beforeAll(async () => {
  server = await scriptedModel(obey);
  const model = openAiPlanner({ baseURL: server.baseURL, model: 'm', log: silentLog });
  const { name, plan: answer } = understoodFirst(builtinPlanner, model);
  kit = await buildKit({ planner: { name, plan: answer } });
});
afterAll(async () => {
  await kit[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** A closed network with web-1, db-1 and guest-1, and the hostile text where it belongs. */
async function networkWith(place: Place, text: string): Promise<string> {
  const workspace = await kit.workspace();
  const guest = (name: string, labels: Record<string, string> = {}, displayName = name) =>
    peer(name, { labels: { role: 'guest', ...labels }, displayName, address: '10.96.0.9' });
  const labels = place === 'label-value' ? { note: text } : place === 'label-key' ? { [text]: 'x' } : {};
  const records = [
    peer('web-1', { labels: { role: 'web' }, address: '10.96.0.7' }),
    peer('db-1', { labels: { role: 'db' }, address: '10.96.0.8' }),
    guest(place === 'peer' ? text : 'guest-1', labels, place === 'display-name' ? text : undefined),
    {
      ...policy('base', { action: 'DENY', peerSelector: {} }),
      annotations: place === 'annotation' ? { note: text } : {},
    },
    ...(place === 'policy' ? [policy(text, { action: 'DENY', peerSelector: { matchLabels: { role: 'guest' } } })] : []),
    ...(place === 'network' ? [network(text, { cidr: '10.97.0.0/24' })] : []),
  ];
  const ops = records.map((record: StoredRecord) => ({ op: 'create' as const, record: draftOf(record) }));
  await kit.services.store.commit(workspace, ops, { actor: 'system:test', reason: 'seed', requestId: 'seed' });
  return workspace;
}

async function plan(workspace: string, raw: Record<string, unknown>) {
  const as = agent(['network:read', 'intents:plan'], workspace);
  return kit.call('plan_network_change', { dry_run: true, ...raw }, { as, workspace }).catch((error) => error);
}

/** Every way of obeying for the first text of each place, one by turns for the others. */
const STRATEGIES = Object.entries(OBEDIENT);
const isFirst = (at: number) => INJECTIONS.findIndex(([place]) => place === INJECTIONS[at]?.[0]) === at;
const CASES = INJECTIONS.map(
  ([place, text], at) =>
    [place, text, isFirst(at) ? STRATEGIES : STRATEGIES.slice(at % STRATEGIES.length).slice(0, 1)] as const,
);

describe.each(CASES)('a hostile %s %j', (place, text, strategies) => {
  const said = (intent: string) =>
    place === 'intent'
      ? { intent: `${intent}${text}` }
      : place === 'history'
        ? { intent, history: [text] }
        : { intent };

  it('never widens a plan that is shown as verified, however a model obeys it', async () => {
    const workspace = await networkWith(place, text);
    for (const [name, strategy] of strategies) {
      act = strategy;
      for (const raw of [said(PLAIN), said(LOOSE), { ...said(LOOSE), expectations: [EXPECTED] }]) {
        const result = await plan(workspace, raw);
        const opened = result.verified ? result.effect.opened : [];
        expect({ name, raw, opened: opened.filter((row: object) => !isHonest(row)) }).toEqual({
          name,
          raw,
          opened: [],
        });
        if (!('expectations' in raw) && raw.intent !== PLAIN) expect(result.verified ?? false).toBe(false);
      }
    }
  });

  it('changes nothing of the instructions, and is data where it is shown at all', async () => {
    const workspace = await networkWith(place, text);
    act = () => HONEST_ORDERS;
    const before = server.seen.length;
    await plan(workspace, said(LOOSE));
    const requests = server.seen.slice(before);
    // An intent that is not printable is refused before a model is asked.
    const isHeard = place !== 'intent' || linesOfText(text.length + LOOSE.length + 10).safeParse(text).success;
    expect(requests.length > 0).toBe(isHeard);
    for (const { body } of requests) {
      const [system, ...rest] = body.messages;
      expect(system?.content).toBe(SYSTEM_PROMPT);
      for (const { content } of rest) expect(JSON.stringify(JSON.parse(content))).toBe(content);
      if (place === 'annotation' || place === 'display-name') {
        expect(body.messages.map(({ content }) => content).join()).not.toContain(JSON.stringify(text).slice(1, -1));
      }
    }
  });
});

describe('without a hostile text', () => {
  it('the honest plan of a model is not checked, also where what the caller expects holds', async () => {
    const workspace = await networkWith('peer', 'guest-1');
    act = () => HONEST_ORDERS;
    expect(await plan(workspace, { intent: LOOSE })).toMatchObject({
      verified: false,
      check: 'not checked',
      effect: { opened: HONEST },
    });
    expect(await plan(workspace, { intent: LOOSE, expectations: [EXPECTED] })).toMatchObject({
      check: 'not checked',
      expectations_hold: true,
      effect: { opened: HONEST },
    });
  });

  it('the plan of the grammar matches the intent, and the model is not even asked for it', async () => {
    const workspace = await networkWith('peer', 'guest-1');
    act = OBEDIENT['opens everything'] ?? act;
    const before = server.seen.length;
    expect(await plan(workspace, { intent: PLAIN })).toMatchObject({ verified: true, effect: { opened: HONEST } });
    expect(server.seen.length).toBe(before);
  });
});

function isHonest(row: object): boolean {
  return JSON.stringify(row) === JSON.stringify(HONEST[0]);
}
