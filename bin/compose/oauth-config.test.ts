import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { dump } from 'js-yaml';
import { expect, test } from 'vitest';
import { OAUTH_SCOPES } from '../../core/model/oauth.ts';
import { loadConfig } from './config.ts';
import { authorizationServerOf } from './oauth-config.ts';

const ISSUER = 'https://id.example.com/realms/main';
const GRANT = { claim: 'groups', value: 'planners', workspace: 'production' };

function load(oauth: object, over: object = {}) {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-'));
  try {
    const oidc = [{ name: 'corp', issuer: ISSUER, clientId: 'mesh', admits: 'everyone' }];
    const app = { publicUrls: ['https://mesh.example.com'], oidc, oauth, ...over };
    writeFileSync(path.join(directory, 'config.yaml'), dump({ app }));
    return loadConfig({}, directory).app.oauth;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('a grant gives an agent that reads and plans for a day and reaches nothing, unless it says more', () => {
  expect(authorizationServerOf(load({ issuer: ISSUER, grants: [GRANT] }))).toEqual({
    issuer: ISSUER,
    allow: [],
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
  ['a key that there is not', { issuer: ISSUER, grants: [{ ...GRANT, role: 'admin' }] }, {}, 'app.oauth.grants.0'],
])('%s is refused with its key', (_what, oauth, over, told) => {
  expect(() => load(oauth, over)).toThrow(told);
});
