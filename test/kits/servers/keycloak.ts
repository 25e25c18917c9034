import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from './free-port.ts';

/** Brought by test/keycloak.sh. */
const HOME = path.resolve('node_modules/.cache/keycloak');
const ADMIN = { username: 'admin', password: 'a password of the administrator' };

export const hasKeycloak = existsSync(path.join(HOME, 'bin/kc.sh'));

/** Two people of one group, of whom the address of one is verified, and the control plane as a client. */
const REALM = {
  realm: 'mesh',
  enabled: true,
  sslRequired: 'none',
  groups: [{ name: 'operators' }],
  clients: [
    {
      clientId: 'mesh',
      secret: 'a secret of the client',
      redirectUris: ['http://127.0.0.1:*'],
      attributes: { 'post.logout.redirect.uris': '+', 'pkce.code.challenge.method': 'S256' },
      defaultClientScopes: ['basic', 'profile', 'email'],
      protocolMappers: [
        {
          name: 'groups',
          protocol: 'openid-connect',
          protocolMapper: 'oidc-group-membership-mapper',
          config: { 'claim.name': 'groups', 'full.path': 'false', 'id.token.claim': 'true' },
        },
      ],
    },
  ],
  users: [personOf('ada', 'Ada', true), personOf('eve', 'Eve', false)],
};

function personOf(username: string, firstName: string, emailVerified: boolean) {
  const credentials = [{ type: 'password', value: `a password of ${username}` }];
  const name = { firstName, lastName: 'Lovelace' };
  return {
    username,
    ...name,
    email: `${username}@example.com`,
    emailVerified,
    enabled: true,
    groups: ['operators'],
    credentials,
  };
}

/** Keycloak as a process of its own on a free port of the loopback, with its records in memory. */
export async function startKeycloak() {
  const imported = path.join(HOME, 'data/import');
  mkdirSync(imported, { recursive: true });
  writeFileSync(path.join(imported, 'mesh-realm.json'), JSON.stringify(REALM));
  const port = await freePort();
  const place = ['--http-host=127.0.0.1', `--http-port=${port}`, '--db=dev-mem', '--import-realm'];
  const child = spawn(path.join(HOME, 'bin/kc.sh'), ['start-dev', ...place], {
    env: {
      ...process.env,
      KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN.username,
      KC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
      JAVA_OPTS_APPEND: '-Xmx512m',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    // The script is not the server: they end together.
    detached: true,
  });
  const exited = once(child, 'exit');
  async function stop(): Promise<void> {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid);
    await exited;
  }
  let log = '';
  await new Promise<void>((resolve, reject) => {
    // Read to the end: it would wait for who does not.
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-4_000);
      if (log.includes('Listening on:')) resolve();
    });
    child.once('exit', () => reject(new Error(`Keycloak did not start: ${log}`)));
  });
  const url = `http://127.0.0.1:${port}`;

  return {
    issuer: `${url}/realms/mesh`,

    /** Ends the sessions of a person, as an administrator of Keycloak does. */
    async endSessions(username: string): Promise<void> {
      const body = new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', ...ADMIN });
      const token = await fetch(`${url}/realms/master/protocol/openid-connect/token`, { method: 'POST', body });
      const { access_token: access } = (await token.json()) as { access_token: string };
      const headers = { authorization: `Bearer ${access}` };
      const users = `${url}/admin/realms/mesh/users`;
      const found = await fetch(`${users}?${new URLSearchParams({ username })}`, { headers });
      const [user] = (await found.json()) as { id: string }[];
      const ended = await fetch(`${users}/${user?.id}/logout`, { method: 'POST', headers });
      if (!ended.ok) throw new Error(`Keycloak did not end the sessions: ${ended.status}`);
    },

    [Symbol.asyncDispose]: stop,
  };
}
