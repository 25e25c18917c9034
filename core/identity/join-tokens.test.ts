import { describe, expect, it } from 'vitest';
import { buildIdentityKit, CONTEXT, START } from '../../test/kits/plane/identity-kit.ts';
import { generateJoinToken } from '../../tools/tokens/generate-join-token.ts';
import { listJoinTokens } from '../../tools/tokens/list-join-tokens.ts';
import { revokeJoinToken } from '../../tools/tokens/revoke-join-token.ts';
import { addWorkspace } from '../../tools/workspaces/add-workspace.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { StoreError } from '../base/ports.ts';
import { newToken } from '../model/token.ts';
import { spendOp, tokenDraft } from '../model/token-record.ts';
import { findAccount } from './accounts.ts';
import { lifetimeOf } from './join-tokens.ts';
import { removeSpentTokens } from './remove-spent-tokens.ts';

const HOUR = 3_600_000;
const instant = (ms: number) => new Date(ms).toISOString();

async function prepared() {
  const kit = await buildIdentityKit();
  const bearer = await kit.admin();
  const workspace = await kit.workspace('prod');
  return { kit, bearer, workspace, as: { bearer, workspace } };
}

describe('making a join token', () => {
  it('takes the requests of the contract as they are written', async () => {
    await using kit = await buildIdentityKit();
    const bearer = await kit.admin();
    const input = { slug: 'prod', namespace: 'prod', displayName: 'Production', maxNodeCount: 100 };
    const { id } = await kit.call(addWorkspace, input, { bearer });
    const answer = await kit.call(generateJoinToken, { name: 'first', expiry: '' }, { bearer, workspace: String(id) });
    expect(answer).toEqual({
      token: expect.stringMatching(/^mesh-join-[\w-]{43}-[\w-]{16}$/),
      notice: expect.stringContaining('app.publicUrls'),
      id: expect.stringMatching(/^tok_[a-z2-7]{26}$/),
      name: 'first',
      expiresAt: instant(START + 168 * HOUR),
      usageLimit: 5,
      usedCount: 0,
      labels: {},
      network: 'default',
      createdAt: instant(START),
      createdBy: 'user:admin',
      joinLink: `mesh://join?server=http%3A%2F%2F127.0.0.1%3A18090&token=${answer['token']}`,
    });
  });

  it('takes a life, a number of uses, labels and a network', async () => {
    const { kit, as } = await prepared();
    await using _kit = kit;
    const input = { name: 'web', usageLimit: 2, labels: { role: 'web' }, network: 'default' };
    const answer = await kit.call(generateJoinToken, { ...input, expiry: '24h' }, as);
    expect(answer).toMatchObject({ ...input, expiresAt: instant(START + 24 * HOUR) });
  });

  it.each([
    ['an expiry without a unit', { expiry: '24' }, '/expiry'],
    ['an expiry of nothing', { expiry: '0h' }, '/expiry'],
    ['an expiry beyond a year', { expiry: '366d' }, '/expiry'],
    ['no uses', { usageLimit: 0 }, '/usageLimit'],
    ['half a use', { usageLimit: 1.5 }, '/usageLimit'],
    ['a network that is not there', { network: 'nowhere' }, '/network'],
    ['a malformed label', { labels: { 'a b': 'c' } }, '/labels/a b'],
    ['a field that is not there', { uses: 3 }, '/uses'],
    ['no name', { name: ' ' }, '/name'],
  ])('refuses %s and writes nothing', async (_what, fields, pointer) => {
    const { kit, as } = await prepared();
    await using _kit = kit;
    await expect(kit.call(generateJoinToken, { name: 'bad', ...fields }, as)).rejects.toMatchObject({
      code: 'invalid_input',
      details: { errors: [{ pointer, detail: expect.any(String) }] },
    });
    expect(await kit.call(listJoinTokens, {}, as)).toEqual({ items: [] });
  });
});

it('says of a token how long it may live in whole minutes, and how that is written', () => {
  const left = 8 * HOUR - 1_752;
  expect(() => lifetimeOf('24h', left, left)).toThrow(
    'expiry must be a duration such as 30m or 24h, from 1s to 7h59m, or "" for 7h59m.',
  );
});

describe('join tokens', () => {
  it('are listed without their secret, page by page, and no other token among them', async () => {
    const { kit, as, workspace } = await prepared();
    await using _kit = kit;
    for (const name of ['a', 'a', 'b']) await kit.call(generateJoinToken, { name }, as);
    const other = tokenDraft(newToken('dev'), { kind: 'dev', name: 'x', owner: 'p_1', createdBy: 'x' });
    await kit.services.store.commit(workspace, [{ op: 'create', record: other }], CONTEXT);
    const first = await kit.call<{ items: { name: string }[]; next_cursor: string }>(listJoinTokens, { limit: 2 }, as);
    const second = await kit.call<typeof first>(listJoinTokens, { limit: 2, cursor: first.next_cursor }, as);
    expect([...first.items, ...second.items].map(({ name }) => name).sort()).toEqual(['a', 'a', 'b']);
    expect(JSON.stringify([first, second])).not.toContain('mesh-join-');
  });

  it('are revoked once', async () => {
    const { kit, as } = await prepared();
    await using _kit = kit;
    const { id } = await kit.call(generateJoinToken, { name: 'web' }, as);
    expect(await kit.call(revokeJoinToken, { id }, as)).toEqual({ revoked: true });
    await expect(kit.call(revokeJoinToken, { id }, as)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('of another workspace are not found', async () => {
    const { kit, as, bearer } = await prepared();
    await using _kit = kit;
    const { id } = await kit.call(generateJoinToken, { name: 'web' }, as);
    const workspace = await kit.workspace('dev');
    await expect(kit.call(revokeJoinToken, { id }, { bearer, workspace })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are spent exactly as often as they may be, however many try at once', async () => {
    const { kit, as, workspace } = await prepared();
    await using _kit = kit;
    const { store } = kit.services;
    const { id } = await kit.call(generateJoinToken, { name: 'web' }, as);

    async function spend(): Promise<string> {
      for (;;) {
        const token = await store.getById(workspace, 'Token', String(id));
        if (!token) throw new Error('no token');
        try {
          await store.commit(workspace, [spendOp(token, kit.clock.time)], CONTEXT);
          return 'spent';
        } catch (error) {
          if (error instanceof StoreError && error.code === 'conflict') continue;
          return (error as Error).message;
        }
      }
    }

    const outcomes = await Promise.all(Array.from({ length: 100 }, spend));
    expect(Object.groupBy(outcomes, (outcome) => outcome)).toEqual({
      spent: Array.from({ length: 5 }, () => 'spent'),
      'This token is used up: ask for a new one.': Array.from({ length: 95 }, () => expect.any(String)),
    });
  });
});

describe('the hourly removal', () => {
  it('removes what expired or has been used up for a week, ended sessions and API tokens, and nothing else', async () => {
    const { kit, as, bearer, workspace } = await prepared();
    await using _kit = kit;
    const { store } = kit.services;
    const make = async (name: string, fields = {}) => kit.call(generateJoinToken, { name, ...fields }, as);
    await make('kept', { expiry: '30d' });
    await make('expired', { expiry: '1h' });
    const used = await make('used', { expiry: '30d', usageLimit: 1 });
    const token = await store.getById(workspace, 'Token', String(used['id']));
    if (!token) throw new Error('no token');
    await store.commit(workspace, [spendOp(token, kit.clock.time)], CONTEXT);
    const stale = { kind: 'api', name: 'stale', owner: 'u_gone', createdBy: 'x', epoch: 1 } as const;
    const device = { kind: 'dev', name: 'web-1', owner: 'p_1', createdBy: 'x' } as const;
    const ops = [tokenDraft(newToken('api'), stale), tokenDraft(newToken('dev'), device)];
    await store.commit(
      workspace,
      ops.map((record) => ({ op: 'create', record })),
      CONTEXT,
    );

    kit.clock.time += HOUR;
    const left = async () => (await store.list(workspace, 'Token')).items.map(({ spec }) => spec.name).sort();
    const listed = async () =>
      (await kit.call<{ items: { name: string }[] }>('list_join_tokens', {}, as)).items.map(({ name }) => name).sort();
    expect(await listed()).toEqual(['expired', 'kept', 'used']);
    expect(await removeSpentTokens(kit.services)).toBe(3);
    expect(await left()).toEqual(['kept', 'used', 'web-1']);
    expect(await listed()).toEqual(['kept']);
    await expect(kit.gate.authenticate(bearer, '')).resolves.toMatchObject({ name: 'admin' });

    kit.clock.time += 11 * HOUR;
    expect(await removeSpentTokens(kit.services)).toBe(1);
    expect((await store.list(SYSTEM_WORKSPACE, 'Session')).items).toEqual([]);
    expect(await removeSpentTokens(kit.services)).toBe(0);

    kit.clock.time += 7 * 24 * HOUR;
    expect(await removeSpentTokens(kit.services)).toBe(1);
    expect(await left()).toEqual(['kept', 'web-1']);
  });

  it('removes join tokens of who has left, and of nobody who is there', async () => {
    const { kit, bearer, workspace } = await prepared();
    await using _kit = kit;
    const { store } = kit.services;
    await kit.person('ann', 'operator', workspace);
    await kit.person('bob');
    await kit.person('off', 'operator', workspace);
    await kit.call('update_user', { username: 'off', disabled: true }, { bearer });
    const makers = ['user:admin', 'user:ann', 'user:bob', 'user:off', 'user:gone', 'agent:gone', 'local:stdio'];
    const ops = makers.map((createdBy) => {
      const record = tokenDraft(newToken('join'), { kind: 'join', name: createdBy, owner: '', createdBy });
      return { op: 'create', record } as const;
    });
    const takenOver = await Promise.all(
      ['ann', 'bob'].map(async (name) => {
        const owner = (await findAccount(kit.services, name))?.uid ?? '';
        const spec = { kind: 'join', name: `taken over by ${name}`, owner, createdBy: 'user:gone' } as const;
        return { op: 'create', record: tokenDraft(newToken('join'), spec) } as const;
      }),
    );
    await store.commit(workspace, [...ops, ...takenOver], CONTEXT);
    await removeSpentTokens(kit.services);
    const left = (await store.list(workspace, 'Token')).items.map(({ spec }) => spec.name).sort();
    expect(left).toEqual(['agent:gone', 'local:stdio', 'taken over by ann', 'user:admin', 'user:ann']);
  });
});
