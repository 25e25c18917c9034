import express from 'express';
import { describe, expect, test, vi } from 'vitest';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import { Secret } from '../../core/base/secret.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { findAccount } from '../../core/identity/accounts.ts';
import { directoryUser, keepMemberships, linkAccount } from '../../core/identity/directory.ts';
import { buildIssuerKit, CORP, identity, OPEN } from '../../test/kits/plane/issuer-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { listen } from '../listen.ts';
import { scimOnDemand } from './on-demand.ts';

const TOKEN = 'a-token-of-the-directory-32-characters';
const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
const WHY = { actor: 'system:issuer:corp', reason: 'signed in', requestId: 'r_1' };
const DIRECTORY = { ...CORP, directory: { claim: 'sub' } };

/** A control plane to which the issuer `corp` tells who there is. */
async function start(over: Partial<typeof DIRECTORY> = {}) {
  const rules = { ...DIRECTORY, ...over };
  const kit = await buildIssuerKit({ issuers: [rules, OPEN] });
  const app = express();
  const directories = [
    { token: new Secret(TOKEN), rules },
    { token: new Secret(`${TOKEN}-of-another`), rules: { ...OPEN, directory: { claim: 'sub' } } },
  ];
  app.use(scimOnDemand({ services: kit.services, log: silentLog, directories }));
  const listener = await listen(app, { host: '127.0.0.1', port: 0 });
  const { url } = listener;
  async function send(method: string, path: string, body?: unknown, token = TOKEN) {
    const response = await fetch(`${url}/scim/v2/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the path that it asks.
    const json: any = text === '' ? undefined : JSON.parse(text);
    return { status: response.status, headers: response.headers, json };
  }
  const patch = (path: string, ...Operations: object[]) => send('PATCH', path, { schemas: [PATCH], Operations });
  return {
    kit,
    send,
    patch,
    async addUser(userName: string, externalId: string, more: object = {}): Promise<string> {
      const { status, json } = await send('POST', 'Users', { schemas: [USER], userName, externalId, ...more });
      expect({ status, json }).toMatchObject({ status: 201 });
      return json.id;
    },
    async addGroup(displayName: string, ...members: string[]): Promise<string> {
      const body = { schemas: [GROUP], displayName, members: members.map((value) => ({ value })) };
      const { status, json } = await send('POST', 'Groups', body);
      expect({ status, json }).toMatchObject({ status: 201 });
      return json.id;
    },
    async [Symbol.asyncDispose]() {
      await listener.stop(0);
      await kit[Symbol.asyncDispose]();
    },
  };
}

describe('the directory of an issuer', () => {
  test('lets in who is in it, with the roles of its groups, whatever groups the token names', async () => {
    await using plane = await start();
    expect(await refusalOf(plane.kit.signIn(identity('ada@example.com', ['admins'], 's1')))).toBe('forbidden');
    const ada = await plane.addUser('ada@example.com', 's1');
    await plane.addGroup('operators', ada);
    const { username } = await plane.kit.signIn(identity('ada@example.com', ['admins'], 's1'));
    expect(await plane.kit.role(username)).toBe('operator');
    expect((await plane.send('GET', `Users/${ada}`)).json.groups).toMatchObject([{ display: 'operators' }]);
  });

  test.each([
    ['says that they have left', (id: string) => ['PATCH', `Users/${id}`, leaves()] as const],
    ['says so as a text', (id: string) => ['PATCH', `Users/${id}`, leaves('False')] as const],
    ['forgets them', (id: string) => ['DELETE', `Users/${id}`, undefined] as const],
    [
      'takes their name for another person',
      (id: string) => ['PUT', `Users/${id}`, { ...NEW, externalId: 's2' }] as const,
    ],
  ])('ends all of a person at once where it %s', async (_what, change) => {
    await using plane = await start();
    const id = await plane.addUser('ada@example.com', 's1');
    await plane.addGroup('operators', id);
    const { token, username } = await plane.kit.signIn(identity('ada@example.com', [], 's1'));
    const as = { bearer: token, workspace: plane.kit.prod };
    const made = await plane.kit.call<{ token: string }>(
      'create_api_token',
      { name: 'ci', scopes: ['network:read'] },
      as,
    );
    const [method, path, body] = change(id);
    const answer = await plane.send(method, path, body);
    expect(answer.status).toBeLessThan(300);
    expect((await findAccount(plane.kit.services, username))?.spec).toMatchObject({ disabled: true });
    for (const bearer of [token, made.token]) {
      expect(await refusalOf(plane.kit.call('list_peers', {}, { ...as, bearer }))).toBe('unauthenticated');
    }
    expect(await refusalOf(plane.kit.signIn(identity('ada@example.com', [], 's1')))).toBe('forbidden');
  });

  test('lets a person in again who is back, and never one whom an administrator disabled', async () => {
    await using plane = await start();
    const id = await plane.addUser('ada@example.com', 's1');
    await plane.addGroup('watchers', id);
    const person = identity('ada@example.com', [], 's1');
    const { username } = await plane.kit.signIn(person);
    await plane.patch(`Users/${id}`, { op: 'replace', path: 'active', value: false });
    await plane.patch(`Users/${id}`, { op: 'replace', path: 'active', value: true });
    expect((await plane.kit.signIn(person)).username).toBe(username);
    expect(await plane.kit.role(username)).toBe('viewer');
    await plane.patch(`Users/${id}`, { op: 'replace', path: 'active', value: false });
    await plane.kit.call('update_user', { username, disabled: true }, { bearer: await plane.kit.admin() });
    await plane.patch(`Users/${id}`, { op: 'replace', path: 'active', value: true });
    expect(await refusalOf(plane.kit.signIn(person))).toBe('forbidden');
  });

  test('gives and takes roles as people come into its groups and leave them', async () => {
    await using plane = await start();
    const [ada, bob] = [await plane.addUser('ada@example.com', 's1'), await plane.addUser('bob@example.com', 's2')];
    const group = await plane.addGroup('operators', ada, bob);
    for (const [name, subject] of [
      ['ada', 's1'],
      ['bob', 's2'],
    ] as const) {
      await plane.kit.signIn(identity(`${name}@example.com`, [], subject));
    }
    const roles = () => Promise.all(['ada@example.com', 'bob@example.com'].map((name) => plane.kit.role(name)));
    expect(await roles()).toEqual(['operator', 'operator']);
    await plane.patch(`Groups/${group}`, { op: 'remove', path: `members[value eq "${ada}"]` });
    expect(await roles()).toEqual([undefined, 'operator']);
    await plane.patch(`Groups/${group}`, { op: 'Add', path: 'members', value: [{ value: ada }] });
    expect(await roles()).toEqual(['operator', 'operator']);
    await plane.patch(`Groups/${group}`, { op: 'replace', value: { displayName: 'watchers' } });
    expect(await roles()).toEqual(['viewer', 'viewer']);
    await plane.send('DELETE', `Groups/${group}`);
    expect(await roles()).toEqual([undefined, undefined]);
  });

  test('knows people by another claim, too, once they have signed in', async () => {
    await using plane = await start({ directory: { claim: 'oid' } });
    const id = await plane.addUser('ada@example.com', 'o1');
    await plane.addGroup('watchers', id);
    const { claims, ...rest } = identity('ada@example.com', [], 's1');
    expect(await refusalOf(plane.kit.signIn({ ...rest, claims: { ...claims, oid: ['o1'] } }))).toBe('forbidden');
    const { username } = await plane.kit.signIn({ ...rest, claims: { ...claims, oid: 'o1' } });
    await plane.send('DELETE', `Users/${id}`);
    expect((await findAccount(plane.kit.services, username))?.spec.disabled).toBe(true);
  });

  test('lets nobody in again of whom it says while they sign in that they have left', async () => {
    await using plane = await start();
    const { kit } = plane;
    const id = await plane.addUser('ada@example.com', 's1');
    await plane.addGroup('watchers', id);
    const { username } = await kit.signIn(identity('ada@example.com', [], 's1'));
    for (const active of [false, true])
      await plane.patch(`Users/${id}`, { op: 'replace', path: 'active', value: active });
    const [entry, account] = [
      await directoryUser(kit.services, DIRECTORY, id),
      await findAccount(kit.services, username),
    ];
    await plane.patch(`Users/${id}`, { op: 'replace', path: 'active', value: false });
    if (!entry || !account) throw new Error('The person has an entry and an account.');
    expect(await linkAccount(kit.services, DIRECTORY, entry, account, WHY)).toBeUndefined();
    expect((await findAccount(kit.services, username))?.spec.disabled).toBe(true);
  });

  test('gives what the groups of a person are by then, where they change while it does', async () => {
    await using plane = await start();
    const { services } = plane.kit;
    const id = await plane.addUser('ada@example.com', 's1');
    const group = await plane.addGroup('operators', id);
    const { username } = await plane.kit.signIn(identity('ada@example.com', [], 's1'));
    const [user, account] = [await directoryUser(services, DIRECTORY, id), await findAccount(services, username)];
    if (!user || !account) throw new Error('The person has an entry and an account.');
    let leaves = async () => {
      leaves = async () => undefined;
      await plane.patch(`Groups/${group}`, { op: 'remove', path: 'members' });
    };
    const store = new Proxy(services.store, {
      get(target, key) {
        if (key === 'list')
          return async (...args: Parameters<typeof target.list>) => {
            const found = await target.list(...args);
            if (args[1] === 'Workspace') await leaves();
            return found;
          };
        const value = Reflect.get(target, key);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    await keepMemberships({ ...services, store }, DIRECTORY, { account, user, told: {} }, WHY);
    expect(await plane.kit.role(username)).toBeUndefined();
  });

  test('disables the account that a person had before, where their subject is another one', async () => {
    await using plane = await start({ directory: { claim: 'oid' } });
    await plane.addGroup('watchers', await plane.addUser('ada@example.com', 'o1'));
    const as = (subject: string) => {
      const { claims, ...rest } = identity('ada@example.com', [], subject);
      return plane.kit.signIn({ ...rest, claims: { ...claims, oid: 'o1' } });
    };
    const [first, second] = [await as('s1'), await as('s2')];
    expect((await findAccount(plane.kit.services, first.username))?.spec).toMatchObject({ disabled: true });
    expect((await findAccount(plane.kit.services, first.username))?.spec.leaving).toBeUndefined();
    expect((await findAccount(plane.kit.services, second.username))?.spec.disabled).toBe(false);
  });

  test('writes nothing for a request that changes nothing, nor tries one again that meets a name', async () => {
    await using plane = await start();
    const id = await plane.addUser('ada@example.com', 's1');
    const group = await plane.addGroup('watchers', id);
    const commit = vi.spyOn(plane.kit.services.store, 'commit');
    const same = { schemas: [USER], userName: 'ada@example.com', externalId: 's1', active: true };
    await plane.send('PUT', `Users/${id}`, same);
    await plane.patch(`Users/${id}`, { op: 'replace', path: 'active', value: true });
    commit.mockClear();
    await plane.send('PUT', `Users/${id}`, same);
    await plane.patch(`Users/${id}`, { op: 'replace', path: 'active', value: true });
    await plane.patch(`Groups/${group}`, { op: 'add', path: 'members', value: [{ value: id }] });
    expect((await plane.send('POST', 'Users', { schemas: [USER], userName: 'ADA@example.com' })).status).toBe(409);
    expect((await plane.send('POST', 'Groups', { schemas: [GROUP], displayName: 'Watchers' })).status).toBe(409);
    expect(commit).not.toHaveBeenCalled();
  });

  test('leaves nothing in the audit log of what an issuer writes about people', async () => {
    await using plane = await start();
    const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
    const written = (mark: string) => ({
      schemas: [USER, enterprise],
      userName: `${mark}-name`,
      externalId: `${mark}-external`,
      displayName: `${mark}-display`,
      name: { familyName: `${mark}-family` },
      emails: [{ value: `${mark}-mail@example.com`, type: 'work' }],
      [enterprise]: { manager: { displayName: `${mark}-manager` } },
    });
    const { status, json } = await plane.send('POST', 'Users', written('private1'));
    expect(status).toBe(201);
    const group = await plane.addGroup('operators', json.id);
    await plane.send('PUT', `Users/${json.id}`, written('private2'));
    await plane.patch(`Users/${json.id}`, { op: 'replace', path: 'name.familyName', value: 'private3' });
    await plane.patch(`Groups/${group}`, { op: 'add', path: 'externalId', value: 'private4' });
    await plane.send('DELETE', `Users/${json.id}`);
    const log = JSON.stringify(await plane.kit.services.store.audit(SYSTEM_WORKSPACE, { limit: 1_000 }));
    expect(log).not.toContain('private');
    expect(log).toContain('{"field":"attributes","isSecret":true}');
  });

  test('does not end the last platform administrator, and says so', async () => {
    await using plane = await start();
    const id = await plane.addUser('ada@example.com', 's1');
    await plane.addGroup('watchers', id);
    const { username } = await plane.kit.signIn(identity('ada@example.com', [], 's1'));
    const admin = await plane.kit.admin();
    await plane.kit.call('update_user', { username, role: 'platform_admin' }, { bearer: admin });
    const { json } = {
      json: await plane.kit.call<{ items: { username: string; role: string }[] }>('list_users', {}, { bearer: admin }),
    };
    const others = json.items.filter((one) => one.role === 'platform_admin' && one.username !== username);
    const again = await plane.kit.signIn(identity('ada@example.com', [], 's1'));
    for (const other of others) {
      await plane.kit.call('update_user', { username: other.username, role: 'user' }, { bearer: again.token });
    }
    const refused = await plane.send('DELETE', `Users/${id}`);
    expect(refused).toMatchObject({
      status: 409,
      json: { detail: expect.stringContaining('last platform administrator') },
    });
    expect((await plane.send('GET', `Users/${id}`)).status).toBe(200);
  });

  test('adds many members of a group by as many requests at once', async () => {
    await using plane = await start();
    const group = await plane.addGroup('operators');
    const ids = await Promise.all(Array.from({ length: 12 }, (_, n) => plane.addUser(`p${n}@example.com`, `s${n}`)));
    await Promise.all(
      ids.map((value) => plane.patch(`Groups/${group}`, { op: 'add', path: 'members', value: [{ value }] })),
    );
    const { json } = await plane.send('GET', `Groups/${group}`);
    expect(json.members.map(({ value }: { value: string }) => value).sort()).toEqual(ids.toSorted());
  });
});

describe('SCIM', () => {
  test('keeps what it does not use, finds by a name in any case, and answers pages', async () => {
    await using plane = await start();
    const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
    const more = { schemas: [USER, enterprise], title: 'Boss', [enterprise]: { department: 'R&D' }, password: 'x' };
    const id = await plane.addUser('Ada@Example.com', 's1', more);
    await plane.addUser('bob@example.com', 's2');
    const found = await plane.send('GET', `Users?filter=${encodeURIComponent('userName eq "ada@EXAMPLE.com"')}`);
    expect(found.json).toMatchObject({
      totalResults: 1,
      Resources: [{ id, title: 'Boss', [enterprise]: { department: 'R&D' } }],
    });
    expect(JSON.stringify(found.json)).not.toContain('password');
    expect(found.json.Resources[0].meta.location).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/scim\/v2\/Users\/diru_/);
    const page = await plane.send('GET', 'Users?startIndex=2&count=1&attributes=userName');
    expect(page.json).toMatchObject({ totalResults: 2, startIndex: 2, itemsPerPage: 1 });
    expect(page.json.Resources).toHaveLength(1);
  });

  test.each([
    ['no token', 'GET', 'Users', undefined, '', 401],
    ['a wrong token', 'GET', 'Users', undefined, `${TOKEN}x`, 401],
    ['no userName', 'POST', 'Users', { schemas: [USER] }, TOKEN, 400],
    ['a body that is no JSON', 'POST', 'Users', '{', TOKEN, 400],
    ['a list for a body', 'POST', 'Users', [], TOKEN, 400],
    ['too much', 'POST', 'Users', { schemas: [USER], userName: 'x', title: 'x'.repeat(20_000) }, TOKEN, 400],
    ['a path that is not there', 'GET', 'Devices', undefined, TOKEN, 404],
    ['a person who is not there', 'GET', 'Users/diru_x', undefined, TOKEN, 404],
    [
      'a member who is not there',
      'POST',
      'Groups',
      { schemas: [GROUP], displayName: 'g', members: [{ value: 'x' }] },
      TOKEN,
      404,
    ],
    ['a malformed filter', 'GET', 'Users?filter=userName%20zz', undefined, TOKEN, 400],
    ['a filter of one word', 'GET', 'Users?filter=not', undefined, TOKEN, 400],
    ['a filter that compares nothing', 'GET', 'Groups?filter=1%20eq%202', undefined, TOKEN, 400],
    ['an attribute that is a filter', 'GET', 'Users?attributes=active%20eq%20true', undefined, TOKEN, 400],
    ['no operation', 'PATCH', 'Users/diru_x', { schemas: [PATCH], Operations: [null] }, TOKEN, 400],
    ['no schemas', 'PATCH', 'Users/diru_x', { schemas: null, Operations: [] }, TOKEN, 400],
    ['nothing to add', 'PATCH', 'Users/diru_x', patchOf({ op: 'add', value: null }), TOKEN, 400],
    ['a method that is not there', 'PUT', 'Users', {}, TOKEN, 405],
    ['a malformed escape', 'GET', 'Schemas/%zz', undefined, TOKEN, 400],
  ])('refuses %s with its own error', async (_what, method, path, body, token, status) => {
    await using plane = await start();
    const answer = await plane.send(method, path, body, token);
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: String(status),
      detail: expect.stringMatching(/./),
    });
  });

  test.each([
    ['a body that is no JSON', 'POST', 'Users', '{'],
    ['a list for a body', 'PUT', 'Users/diru_x', '[]'],
    ['a search that is no JSON', 'POST', '.search', '{'],
  ])('says of %s that its syntax is wrong', async (_what, method, path, body) => {
    await using plane = await start();
    expect(await plane.send(method, path, body)).toMatchObject({ status: 400, json: { scimType: 'invalidSyntax' } });
  });

  test('says of a group in a group that members are people', async () => {
    await using plane = await start();
    const [outer, inner] = [await plane.addGroup('outer'), await plane.addGroup('inner')];
    const answer = await plane.patch(`Groups/${outer}`, { op: 'add', path: 'members', value: [{ value: inner }] });
    expect(answer).toMatchObject({ status: 400, json: { scimType: 'invalidValue' } });
    expect(answer.json.detail).toContain(`${inner} is a group, and members of a group are people`);
  });

  test('takes a person without an externalId, who cannot sign in, and says so in the audit log', async () => {
    await using plane = await start();
    const { json } = await plane.send('POST', 'Users', NEW);
    await plane.addGroup('watchers', json.id);
    expect(await refusalOf(plane.kit.signIn(identity('ada@example.com', [], 's1')))).toBe('forbidden');
    const log = await plane.kit.services.store.audit(SYSTEM_WORKSPACE, { limit: 1_000 });
    const reasons = log.map(({ commit }) => commit?.reason);
    expect(reasons).toContain(
      `the directory of Example Corp added ${json.id}, who has no externalId and cannot sign in`,
    );
  });

  test('names groups, and who joined and left them, by account in the audit log, and in a workspace who left', async () => {
    await using plane = await start();
    const { store } = plane.kit.services;
    const user = await plane.addUser('ada@example.com', 's1', { title: 'Analyst' });
    const other = await plane.addUser('bob@example.com', 's2');
    const group = await plane.addGroup('operators', user, other);
    const { token: bearer, username } = await plane.kit.signIn(identity('ada@example.com', [], 's1'));
    const as = { bearer, workspace: plane.kit.prod };
    await plane.patch(`Groups/${group}`, { op: 'remove', path: `members[value eq "${user}"]` });
    await plane.patch(`Groups/${group}`, { op: 'add', path: 'members', value: [{ value: user }] });
    await plane.kit.call('create_api_token', { name: 'ci', scopes: ['network:read'] }, as);
    await plane.patch(`Users/${user}`, { op: 'replace', path: 'active', value: false });
    await plane.patch(`Groups/${group}`, { op: 'replace', path: 'displayName', value: 'runners' });
    await plane.send('DELETE', `Groups/${group}`);
    const reasonsIn = async (workspace: string) =>
      (await store.audit(workspace, { limit: 1_000, type: 'commit' })).map(({ commit }) => commit?.reason).toReversed();
    const ofGroups = (await reasonsIn(SYSTEM_WORKSPACE)).filter((reason) => reason?.includes(' group '));
    expect(ofGroups).toEqual(
      [
        `added group operators: ${[user, other].toSorted().join(', ')} joined`,
        `changed group operators: ${username} left`,
        `changed group operators: ${username} joined`,
        'renamed group operators to runners',
        `removed group runners: ${[other, username].toSorted().join(', ')} left`,
      ].map((what) => `the directory of Example Corp ${what}`),
    );
    expect(await reasonsIn(plane.kit.prod)).toContain(`followed the directory of Example Corp: ${username} left`);
  });

  test('never says that a resource was changed before it was made, however long the write takes', async () => {
    await using plane = await start();
    const { clock } = plane.kit;
    clock.now = () => {
      clock.time += 1;
      return clock.time;
    };
    const user = await plane.addUser('ada@example.com', 's1');
    const group = await plane.addGroup('g');
    for (const path of [`Users/${user}`, `Groups/${group}`]) {
      const { created, lastModified } = (await plane.send('GET', path)).json.meta;
      expect(Date.parse(lastModified)).toBeGreaterThanOrEqual(Date.parse(created));
    }
  });

  const POLLUTING = '__proto__.polluted eq "x"';
  const inherited = (text: string) => encodeURIComponent(text);
  test.each([
    ['a filter', 'GET', `Users?filter=${inherited(POLLUTING)}`, undefined],
    ['a filter of the constructor', 'GET', `Users?filter=${inherited('constructor.polluted eq 1')}`, undefined],
    ['a filter of a group', 'GET', `Groups?filter=${inherited(`(displayName eq "x" or ${POLLUTING})`)}`, undefined],
    ['a filter of values', 'GET', `Users?filter=${inherited(`emails[${POLLUTING}]`)}`, undefined],
    ['attributes', 'GET', 'Users?attributes=userName,__proto__.polluted', undefined],
    ['excluded attributes', 'GET', 'Users?excludedAttributes=__proto__.polluted', undefined],
    ['a search', 'POST', 'Users/.search', { filter: POLLUTING }],
    ['the id of a schema', 'GET', `Schemas/${inherited(`x" or ${POLLUTING.slice(0, -1)}`)}`, undefined],
    [
      'the path of a PATCH',
      'PATCH',
      'Users/ID',
      patchOf({ op: 'add', path: `emails[${POLLUTING}].value`, value: 'x' }),
    ],
    ['a name in a PATCH', 'PATCH', 'Users/ID', patchOf({ op: 'add', value: { '__proto__.polluted': 'x' } })],
    [
      'a value to remove',
      'PATCH',
      'Users/ID',
      patchOf({ op: 'remove', path: 'emails', value: [{ value: `a" or ${POLLUTING.slice(0, -1)}` }] }),
    ],
    [
      'a name of a value to remove',
      'PATCH',
      'Users/ID',
      patchOf({ op: 'remove', path: 'emails', value: [{ '__proto__.polluted': 'x' }] }),
    ],
    [
      'a name of an extension',
      'POST',
      'Users',
      {
        schemas: [USER],
        userName: 'eve',
        'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:__proto__.polluted': 'x',
      },
    ],
    ['a name in a body', 'POST', 'Users', `{"schemas":["${USER}"],"userName":"eve","name":{"__proto__":{"a":1}}}`],
  ])('lets nobody write into what all objects inherit, by %s', async (_what, method, path, body) => {
    await using plane = await start();
    const id = await plane.addUser('ada@example.com', 's1', { emails: [{ value: 'ada@example.com', type: 'work' }] });
    const answer = await plane.send(method, path.replace('ID', id), body);
    expect([400, 404]).toContain(answer.status);
    expect('polluted' in Object).toBe(false);
    expect('polluted' in {}).toBe(false);
  });

  test.each([
    ['a text that does not end', `userName eq "${'\\a'.repeat(200)}`],
    ['alternatives of alternatives', Array.from({ length: 30 }, (_, n) => `(a${n} eq 1 or b${n} eq 2)`).join(' and ')],
    ['a path of paths', `${Array.from({ length: 30 }, (_, n) => `a${n}[x eq 1 or y eq 2]`).join('.')} pr`],
    ['a long path', `${'a.'.repeat(200_000)}a eq 1`],
  ])('refuses a filter that would take minutes: %s', async (_what, filter) => {
    await using plane = await start();
    const answer = await plane.send('POST', 'Users/.search', { filter });
    expect(answer).toMatchObject({ status: 400, json: { scimType: 'invalidFilter' } });
  });

  test('finds by parts that not everybody has', async () => {
    await using plane = await start();
    const id = await plane.addUser('ada@example.com', 's1', {
      name: { familyName: 'L' },
      emails: [{ value: 'a@b.c' }],
    });
    await plane.addUser('bob@example.com', 's2');
    for (const filter of ['name.familyName eq "L"', 'emails.value eq "a@b.c"', 'emails[value co "@"]']) {
      const { json } = await plane.send('GET', `Users?filter=${encodeURIComponent(filter)}`);
      expect(json).toMatchObject({ totalResults: 1, Resources: [{ id }] });
    }
  });

  test('finds people and groups by names that only look like those of objects', async () => {
    await using plane = await start();
    await plane.addGroup('Constructor');
    const found = await plane.send('GET', `Groups?filter=${inherited('displayName eq "constructor"')}`);
    expect(found.json).toMatchObject({ totalResults: 1, Resources: [{ displayName: 'Constructor' }] });
  });

  test('shows the members of a group where they are asked for', async () => {
    await using plane = await start();
    const ids = [await plane.addUser('ada@example.com', 's1'), await plane.addUser('bob@example.com', 's2')];
    const group = await plane.addGroup('g', ...ids);
    const members = ids
      .toSorted()
      .map((value) => ({ value, type: 'User', $ref: expect.stringMatching(`/Users/${value}$`) }));
    expect((await plane.send('GET', `Groups/${group}`)).json.members).toEqual(members);
    expect((await plane.send('GET', 'Groups?excludedAttributes=members')).json.Resources[0].members).toBeUndefined();
    const named = await plane.patch(`Groups/${group}`, { op: 'replace', value: { displayName: 'h' } });
    expect(named).toMatchObject({ status: 200, json: { displayName: 'h', members } });
    expect((await plane.send('PUT', `Groups/${group}`, { schemas: [GROUP], displayName: 'h' })).json.members).toEqual(
      [],
    );
  });

  test('refuses a second person of one name, and shows nobody the directory of another issuer', async () => {
    await using plane = await start();
    const id = await plane.addUser('ada@example.com', 's1');
    const again = await plane.send('POST', 'Users', { schemas: [USER], userName: 'ADA@example.com' });
    expect(again).toMatchObject({ status: 409, json: { scimType: 'uniqueness' } });
    const other = `${TOKEN}-of-another`;
    expect((await plane.send('GET', `Users/${id}`, undefined, other)).status).toBe(404);
    expect((await plane.send('DELETE', `Users/${id}`, undefined, other)).status).toBe(404);
    expect((await plane.send('GET', 'Users', undefined, other)).json.totalResults).toBe(0);
    expect((await plane.send('POST', 'Users', { schemas: [USER], userName: 'ada@example.com' }, other)).status).toBe(
      201,
    );
  });
});

const NEW = { schemas: [USER], userName: 'ada@example.com' };

function leaves(value: unknown = false) {
  return patchOf({ op: 'Replace', path: 'active', value });
}

function patchOf(...Operations: object[]) {
  return { schemas: [PATCH], Operations };
}
