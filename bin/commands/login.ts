import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { callApi } from './api.ts';
import { CliError, EXIT } from './exit.ts';
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
      const oldPassword = await readPassword('Current password: ');
      const newPassword = await readPassword('New password: ');
      await callApi(targetOf({}), {
        method: 'put',
        path: '/api/v1/users/me/password',
        body: { oldPassword, newPassword },
      });
      forgetSession();
      console.log('Password changed. Sign in again: mesh login');
    });
}

async function login({ server, username, workspace }: LoginOptions): Promise<void> {
  parseServer(server);
  const password = process.env['MESH_PASSWORD'] ?? (await readPassword('Password: '));
  const target = { server, token: undefined, workspace: undefined };
  const answer = await callApi(target, { method: 'post', path: '/api/v1/users/login', body: { username, password } });
  const { data } = answer as { data: { token: string; expiresAt: string; passwordChangeRequired: boolean } };
  writeSession({ server, token: data.token, ...(workspace !== undefined && { workspace }) });
  console.log(`Signed in to ${server} as ${username} until ${data.expiresAt}. Session: ${sessionFile()}`);
  if (data.passwordChangeRequired) console.log('The password must be changed: mesh passwd');
  else console.log('Next: mesh mcp config');
}

let piped: AsyncIterator<string> | undefined;

/** Without echo on a terminal; one line of standard input otherwise. */
async function readPassword(question: string): Promise<string> {
  if (!process.stdin.isTTY) {
    piped ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    const { value, done } = await piped.next();
    if (done) throw new CliError('No password: set MESH_PASSWORD or pipe it in.', EXIT.input);
    return value;
  }
  process.stderr.write(question);
  process.stdin.setRawMode(true);
  let password = '';
  try {
    for await (const chunk of process.stdin) {
      for (const character of String(chunk)) {
        if (character === '\r' || character === '\n') return password;
        if (character === '\u0003') throw new CliError('Cancelled.', EXIT.input);
        password = character === '\u007f' ? password.slice(0, -1) : password + character;
      }
    }
    return password;
  } finally {
    process.stdin.setRawMode(false);
    process.stdin.pause();
    process.stderr.write('\n');
  }
}
