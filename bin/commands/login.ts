import type { Command } from 'commander';
import { callApi, requireSession } from './api.ts';
import { CliError, EXIT } from './exit.ts';
import { readSecrets } from './read-secrets.ts';
import { DEFAULT_SERVER, forgetSession, parseServer, sessionFile, targetOf, writeSession } from './session.ts';

interface LoginOptions {
  readonly server: string;
  readonly username: string;
  readonly workspace?: string;
}

/** `mesh login` and `mesh logout`: the session is stored 0600 and used by every other command. */
export function addLoginCommands(program: Command): void {
  program
    .command('login')
    .description('sign in to a control plane; reads the password from MESH_PASSWORD, the terminal or standard input')
    .option('--server <url>', 'address of the control plane', process.env['MESH_SERVER'] ?? DEFAULT_SERVER)
    .option('--username <name>', 'account', 'admin')
    .option('--workspace <id>', 'workspace for the commands that follow')
    .action(login);
  program
    .command('logout')
    .description('end the stored session')
    .action(async () => {
      await callApi(targetOf({}), { method: 'post', path: '/api/v1/users/logout', body: {} }).catch(() => undefined);
      forgetSession();
      console.log('Signed out.');
    });
  program
    .command('passwd')
    .description('change the password of the signed-in account')
    .action(async () => {
      const target = targetOf({});
      requireSession(target);
      const [oldPassword, newPassword] = await readSecrets(['Current password: ', 'New password: ']);
      if (oldPassword === undefined || newPassword === undefined) throw new CliError(TWO_LINES, EXIT.input);
      await callApi(target, {
        method: 'put',
        path: '/api/v1/users/me/password',
        body: { oldPassword, newPassword },
      });
      forgetSession();
      console.log('Password changed. Sign in again: mesh login');
    });
}

const TWO_LINES =
  'The current and the new password are wanted on standard input, one a line; MESH_PASSWORD is read by mesh login alone.';

async function login({ server, username, workspace }: LoginOptions): Promise<void> {
  parseServer(server);
  const password = process.env['MESH_PASSWORD'] ?? (await readSecrets(['Password: ']))[0];
  if (password === undefined) throw new CliError('No password: set MESH_PASSWORD or pipe it in.', EXIT.input);
  const target = { server, token: undefined, workspace: undefined };
  const body = { username, password };
  const answer = await callApi(target, { method: 'post', path: '/api/v1/users/login', body, anonymous: true });
  const { data } = answer as { data: { token: string; expiresAt: string; passwordChangeRequired: boolean } };
  writeSession({ server, token: data.token, ...(workspace !== undefined && { workspace }) });
  console.log(`Signed in to ${server} as ${username} until ${data.expiresAt}. Session: ${sessionFile()}`);
  if (data.passwordChangeRequired) console.log('The password must be changed: mesh passwd');
  else console.log('Next: mesh mcp config');
}
