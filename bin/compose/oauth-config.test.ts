import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { dump } from 'js-yaml';
import { expect, test } from 'vitest';
import { Secret } from '../../core/base/secret.ts';
import { OAUTH_SCOPES } from '../../core/model/oauth.ts';
import { loadConfig } from './config.ts';
import { assertionClientsOf, authorizationServerOf } from './oauth-config.ts';
import { sharedSettings } from './shared-settings.ts';

const ISSUER = 'https://id.example.com/realms/main';
const GRANT = { claim: 'groups', value: 'planners', workspace: 'production' };
const SELF = 'https://mesh.example.com';
const SECRET = 'a secret that nobody is to guess'.replaceAll(' ', '-');
const CLIENT = { id: 'assistant', secret: SECRET };

const asserted = (clients: readonly object[]) => ({
  ...{ issuer: ISSUER, grants: [GRANT] },
  identityAssertions: { clients },
});

function load(oauth: object, over: object = {}) {
  return loaded(oauth, { over }).oauth;
}

function loaded(
  oauth: object,
  { over = {}, variables = {} }: { over?: object; variables?: Record<string, string> } = {},
) {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-'));
  try {
    const oidc = [{ name: 'corp', issuer: ISSUER, clientId: 'mesh', admits: 'everyone' }];
    const app = { publicUrls: ['https://mesh.example.com'], oidc, oauth, ...over };
    writeFileSync(path.join(directory, 'secret'), `${SECRET}\n`);
    const file = path.join(directory, 'config.yaml');
    writeFileSync(file, dump({ app }).replaceAll('DIRECTORY', directory), { mode: 0o644 });
    const config = loadConfig(variables, directory);
    return { config, oauth: config.app.oauth, mode: statSync(file).mode & 0o777 };
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('a grant gives an agent that reads and plans for a day and reaches nothing, unless it says more', () => {
  expect(authorizationServerOf(load({ issuer: ISSUER, grants: [GRANT] }))).toEqual({
    issuer: ISSUER,
    allow: [],
    takesAssertions: false,
    grants: [
      {
        ...GRANT,
        scopes: ['network:read', 'snapshots:read', 'intents:plan'],
        ttl: '24h',
        policyPreset: 'inherit',
        reach: [],
      },
    ],
  });
  expect(authorizationServerOf(load({}))).toBeUndefined();
});

test('a role stands for those of its scopes that a client can be given: never one to approve', () => {
  const [grant] = load({ issuer: ISSUER, grants: [{ ...GRANT, scopes: ['admin', 'agents:delegate'] }] }).grants;
  expect(grant?.scopes).toContain('network:write');
  expect(grant?.scopes).toContain('agents:delegate');
  expect(OAUTH_SCOPES).toEqual(expect.arrayContaining([...(grant?.scopes ?? [])]));
  expect(grant?.scopes).not.toContain('workflows:approve');
});

test.each<[where: string, client: object, mode: number]>([
  ['the file itself, which others then cannot read', CLIENT, 0o600],
  ['another file', { id: 'assistant', secretFile: 'DIRECTORY/secret' }, 0o644],
  ['a variable', { id: 'assistant', secretVariable: 'MESH_OIDC_ASSISTANT' }, 0o644],
])('the secret of a client that brings assertions is in %s, and is shown to nobody', (_where, client, mode) => {
  const { config, oauth, ...file } = loaded(asserted([client]), { variables: { MESH_OIDC_ASSISTANT: SECRET } });
  const [found] = assertionClientsOf(oauth) ?? [];
  expect([found?.id, found?.secret.reveal(), file.mode]).toEqual(['assistant', SECRET, mode]);
  expect(config.unknownVariables).toEqual(mode === 0o600 || 'secretFile' in client ? ['MESH_OIDC_ASSISTANT'] : []);
  expect(JSON.stringify(config)).not.toContain(SECRET);
  expect(authorizationServerOf(oauth)?.takesAssertions).toBe(true);
});

test('control planes whose clients have other secrets differ in their settings', () => {
  const digest = (secret: string) => {
    const { config } = loaded(asserted([{ ...CLIENT, secret }]));
    const parts = { relayToken: new Secret('relay'), busKeys: undefined };
    return sharedSettings(config, parts, new Secret('key'))['app.oauth'];
  };
  expect(digest(SECRET)).toBe(digest(SECRET));
  expect(digest(SECRET)).not.toBe(digest(`${SECRET}x`));
});

test.each<[what: string, oauth: object, over: object, told: string]>([
  [
    'an issuer that signs nobody in',
    { issuer: 'https://b.example.com', grants: [GRANT] },
    {},
    'app.oauth.issuer: must',
  ],
  ['an issuer without an address', { issuer: ISSUER, grants: [GRANT] }, { publicUrls: [] }, 'needs app.publicUrls'],
  ['an issuer that lets nobody in', { issuer: ISSUER }, {}, 'app.oauth.grants: must say which claims'],
  ['grants without an issuer', { grants: [GRANT] }, {}, 'app.oauth.grants: needs app.oauth.issuer'],
  [
    'a scope to approve',
    { issuer: ISSUER, grants: [{ ...GRANT, scopes: ['workflows:approve'] }] },
    {},
    'scopes.0: must',
  ],
  ['no scope', { issuer: ISSUER, grants: [{ ...GRANT, scopes: [] }] }, {}, 'app.oauth.grants.0.scopes'],
  ['a life without end', { issuer: ISSUER, grants: [{ ...GRANT, ttl: '91d' }] }, {}, 'app.oauth.grants.0.ttl: must'],
  [
    'a reach that is none',
    { issuer: ISSUER, grants: [{ ...GRANT, reach: [{ to: 1 }] }] },
    {},
    'app.oauth.grants.0.reach',
  ],
  [
    'assertions of nobody',
    { identityAssertions: { clients: [CLIENT] } },
    {},
    'identityAssertions: needs app.oauth.issuer',
  ],
  ['assertions that nobody brings', asserted([]), {}, 'app.oauth.identityAssertions.clients'],
  ['two clients of one id', asserted([CLIENT, CLIENT]), {}, 'clients: must each have an id of its own'],
  ['a client without a secret', asserted([{ id: 'a' }]), {}, 'clients.0: must have one of secret'],
  ['a client with two', asserted([{ ...CLIENT, secretFile: 'b' }]), {}, 'clients.0: must have one of secret'],
  ['a secret to guess', asserted([{ id: 'a', secret: 'short' }]), {}, 'clients.0: the secret needs 32 characters'],
  ['no such file', asserted([{ id: 'a', secretFile: '/nonexistent' }]), {}, 'clients.0.secretFile: /nonexistent'],
  ['a variable that is not set', asserted([{ id: 'a', secretVariable: 'MESH_OIDC_A' }]), {}, 'MESH_OIDC_A is not set'],
  ['a variable of another name', asserted([{ id: 'a', secretVariable: 'HOME' }]), {}, 'must begin with MESH_OIDC_'],
  [
    'this control plane as the issuer',
    { ...asserted([CLIENT]), issuer: SELF },
    { publicUrls: [SELF], oidc: [{ name: 'self', issuer: SELF, clientId: 'mesh', admits: 'everyone' }] },
    'app.oauth.issuer: must not be the first of app.publicUrls',
  ],
  ['a key that there is not', { issuer: ISSUER, grants: [{ ...GRANT, role: 'admin' }] }, {}, 'app.oauth.grants.0'],
])('%s is refused with its key', (_what, oauth, over, told) => {
  expect(() => load(oauth, over)).toThrow(told);
});
