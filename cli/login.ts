import { readFileSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { isLoopbackUrl } from '../core/base/loopback.ts';
import { TEXT_LIMITS } from '../core/base/text.ts';
import { BUILT_IN_PASSWORD, FIRST_LOGIN_TOKEN_FILE } from '../core/identity/first-accounts.ts';
import { type Answer, answering, notice } from './answer.ts';
import { callApi, requireSession } from './api.ts';
import { CliError, EXIT } from './exit.ts';
import { faultsIn } from './field-names.ts';
import { readSecrets, type SecretReader } from './read-secrets.ts';
import {
  DEFAULT_SERVER,
  forgetSession,
  serverOf,
  sessionAt,
  sessionFile,
  type Target,
  targetOf,
  warnPlainHttp,
  writeSession,
} from './session.ts';
import { variable } from './variable.ts';

interface LoginOptions {
  readonly server?: string;
  readonly username?: string;
  readonly workspace?: string;
  readonly otp?: string;
  readonly browser?: true;
  readonly device?: true;
}

interface Account {
  readonly server: string;
  readonly username: string;
  readonly workspace: string | undefined;
}

interface SignedIn {
  readonly token: string;
  readonly expiresAt: string;
  readonly passwordChangeRequired: boolean;
  readonly secondFactorRequired?: true;
}

/** How often a person at a terminal may type a password before the command ends. */
const TRIES = 3;

const LOGIN_HELP = `
At a terminal a browser signs in: on this machine, or without one here by a code that is typed on any machine. A password does
with --username or MESH_PASSWORD, without a terminal, and where the control plane has no address for a browser.

The password is that of MESH_PASSWORD, else the first line of standard input; a terminal asks for it. Without one, and where
the built-in one is refused, root and the user of meshd sign in on its machine with its ${FIRST_LOGIN_TOKEN_FILE}.`;

/** `mesh login`: the session is stored 0600 and used by every other command. */
export function defineLogin(command: Command): void {
  answering(
    command
      .option(
        '--server <url>',
        `address of the control plane (MESH_SERVER; that of the last login, of the node here, ${DEFAULT_SERVER})`,
      )
      .option('--username <name>', 'account that signs in by a password (that of the last login, admin)')
      .option('--workspace <id>', 'workspace for the commands that follow')
      .option('--otp <code>', 'code of the authenticator app, or a recovery code; asked for where it is needed')
      .addOption(
        new Option('--browser', 'sign in by a browser on this machine').conflicts(['device', 'username', 'otp']),
      )
      .addOption(
        new Option('--device', 'sign in by a code, in a browser on any machine').conflicts(['username', 'otp']),
      )
      .addHelpText('after', LOGIN_HELP),
    login,
  );
}

/** `mesh passwd`. */
export function definePasswd(command: Command): void {
  answering(command, passwd);
}

async function login(options: LoginOptions): Promise<Answer> {
  const server = serverOf(options.server) ?? DEFAULT_SERVER;
  const session = sessionAt(server);
  const username = options.username ?? session?.username ?? 'admin';
  warnPlainHttp(server);
  const account = { server, username, workspace: options.workspace ?? session?.workspace };
  const byBrowser = await inBrowser(server, options);
  if (byBrowser) return signedInAs({ ...account, username: byBrowser.username }, byBrowser);
  const given = variable('MESH_PASSWORD');
  if (given !== undefined) return signedInAs(account, await signIn(account, given, options.otp));
  using secrets = await secretsFor(server);
  const { password, signedIn } = await askForLogin(account, secrets, options.otp);
  if (!signedIn.passwordChangeRequired || !secrets.isTerminal) return signedInAs(account, signedIn);
  // Signed in already: whatever becomes of the new password, the session is good for `mesh passwd`.
  store(account, signedIn);
  notice('This password has to be changed. Choose one of your own now; Enter alone leaves that for later.');
  const next = await replaceFirst({ server, token: signedIn.token, workspace: undefined }, password, secrets);
  return signedInAs(account, next === undefined ? signedIn : await signInAsking(account, next, secrets));
}

/** Undefined for a login by a password. */
async function inBrowser(server: string, { browser, device, username, otp }: LoginOptions) {
  const isOptional = !browser && !device;
  const hasPassword = (username ?? otp ?? variable('MESH_PASSWORD')) !== undefined;
  if (isOptional && (hasPassword || !process.stdin.isTTY)) return undefined;
  await requireControlPlane(server);
  const { hasBrowser, signInByBrowser } = await import('./browser-login.ts');
  const way = browser || (isOptional && hasBrowser()) ? 'browser' : 'device';
  return signInByBrowser({ server, way, isOptional });
}

/** Nobody types a password for a server that is not there. */
async function secretsFor(server: string): Promise<SecretReader> {
  await requireControlPlane(server);
  return readSecrets();
}

/** @throws CliError that says what to name */
async function requireControlPlane(server: string): Promise<void> {
  const target = { server, token: undefined, workspace: undefined };
  const asked = { method: 'get', path: '/api/v1/discovery', anonymous: true, timeoutMs: 10_000 } as const;
  let found: unknown;
  try {
    found = await callApi(target, asked);
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== undefined) throw error;
    throw new CliError(`${error.message} ${NAME_IT}`, error.exitCode);
  }
  if ((found as { name?: unknown } | undefined)?.name === 'mesh') return;
  throw new CliError(`${server} is no Mesh control plane. ${NAME_IT}`, EXIT.unavailable);
}

const NAME_IT = 'Name the control plane with --server or MESH_SERVER.';

/** @returns the new password; undefined where the person leaves that for later */
async function replaceFirst(target: Target, first: string, secrets: SecretReader): Promise<string | undefined> {
  for (let left = TRIES; ; ) {
    left -= 1;
    const next = await askNewPassword(secrets);
    if (!next) return undefined;
    try {
      await changePassword(target, first, next);
      return next;
    } catch (error) {
      requireRetry(error, 'invalid_input', secrets, left);
    }
  }
}

async function askForLogin(account: Account, secrets: SecretReader, otp?: string) {
  for (let left = TRIES; ; ) {
    left -= 1;
    const password = (await secrets.ask('Password: ')) || firstLoginTokenFor(account);
    if (!password) {
      throw new CliError('No password: set MESH_PASSWORD, or send it on standard input.', EXIT.input);
    }
    try {
      return { password, signedIn: await signInAsking(account, password, secrets, otp) };
    } catch (error) {
      requireRetry(error, 'unauthenticated', secrets, left);
    }
  }
}

async function passwd(): Promise<Answer> {
  const target = targetOf({});
  requireSession(target);
  const session = sessionAt(target.server);
  const { username, workspace } = (session?.token === target.token ? session : undefined) ?? {};
  using secrets = await secretsFor(target.server);
  let old: string | undefined;
  for (let left = TRIES; ; ) {
    left -= 1;
    old ??= await secrets.ask('Current password: ');
    const next = await askNewPassword(secrets);
    if (old === undefined || next === undefined) throw new CliError(TWO_LINES, EXIT.input);
    if (next === '') throw new CliError('No new password: nothing was changed.', EXIT.input);
    try {
      await changePassword(target, old, next);
    } catch (error) {
      requireRetry(error, 'invalid_input', secrets, left);
      if (error instanceof CliError && faultsIn(error).some(({ pointer }) => pointer === '/oldPassword'))
        old = undefined;
      continue;
    }
    const value = { changed: true };
    if (username === undefined) {
      if (session) forgetSession();
      return { value, text: 'Password changed.', hints: ['Sign in again: mesh login'] };
    }
    const account = { server: target.server, username, workspace };
    const { expiresAt } = store(account, await signInAsking(account, next, secrets));
    return { value, text: `Password changed. Signed in as ${username} until ${expiresAt}.` };
  }
}

const TWO_LINES =
  'The current and the new password are wanted on standard input, one a line; MESH_PASSWORD is read by mesh login alone.';

/** At a terminal a person types it twice. */
async function askNewPassword(secrets: SecretReader): Promise<string | undefined> {
  for (let left = TRIES; ; ) {
    left -= 1;
    const password = await secrets.ask('New password: ');
    if (!secrets.isTerminal || password === '') return password;
    if ((await secrets.ask('New password again: ')) === password) return password;
    if (left === 0) throw new CliError('The two were different each time: nothing was changed.', EXIT.input);
    notice('The two are different. Try again.');
  }
}

/** @throws the error itself where it is another one, or nobody is there to try again */
function requireRetry(error: unknown, code: string, { isTerminal }: SecretReader, left: number): void {
  if (!(error instanceof CliError) || error.code !== code || !isTerminal || left === 0) throw error;
  notice(error.message.split('\n'));
}

/** Asks for a code where the account has a second factor; again where it was wrong, or was used a moment ago. */
async function signInAsking(
  account: Account,
  password: string,
  secrets: SecretReader,
  given?: string,
): Promise<SignedIn> {
  let otp = given;
  for (let left = TRIES; ; left -= 1) {
    try {
      return await signIn(account, password, otp);
    } catch (error) {
      if (!(error instanceof CliError) || error.code !== 'otp_required' || left === 0) throw error;
      if (otp !== undefined && !secrets.isTerminal) throw error;
      if (otp !== undefined) notice(error.message.split('\n'));
      otp = await secrets.ask('Code: ');
      if (!otp) throw error;
    }
  }
}

/** Signs in; with the token of the first login where the built-in password is refused and the token can be read. */
async function signIn(account: Account, password: string, otp?: string): Promise<SignedIn> {
  try {
    return await exchange(account, password, otp);
  } catch (error) {
    const isRefused = error instanceof CliError && error.code === 'forbidden' && password === BUILT_IN_PASSWORD;
    if (!isRefused || !isLoopbackUrl(account.server)) throw error;
    const token = firstLoginTokenFor(account);
    if (token !== undefined) return exchange(account, token, otp);
    const hint = `mesh login reads ${FIRST_LOGIN_TOKEN_FILE} by itself when root or the user who runs meshd starts it (sudo mesh login --username ${account.username}).`;
    throw new CliError(`${error.message}\n${hint}`, error.exitCode, error.problem);
  }
}

/**
 * The token that meshd on this machine left for the first login, if this user may read it. Its directory is the one of
 * MESH_CONFIG_DIR, the default, or that of the unit and the image of deploy/.
 */
function firstLoginTokenFor({ server }: Account): string | undefined {
  if (!isLoopbackUrl(server)) return undefined;
  const directories = [variable('MESH_CONFIG_DIR'), path.join(homedir(), '.meshd'), '/var/lib/meshd', '/var/lib/mesh'];
  for (const directory of directories.filter((each) => each !== undefined)) {
    try {
      return readFileSync(path.join(directory, FIRST_LOGIN_TOKEN_FILE), 'utf8').trim();
    } catch {
      // Not there, or not for this user.
    }
  }
  return undefined;
}

async function exchange({ server, username }: Account, password: string, otp?: string): Promise<SignedIn> {
  const target = { server, token: undefined, workspace: undefined };
  const client = `mesh on ${hostname()}`.slice(0, TEXT_LIMITS.name);
  const body = { username, password, client, ...(otp !== undefined && { otp }) };
  const answer = await callApi(target, { method: 'post', path: '/api/v1/users/login', body, anonymous: true });
  return (answer as { data: SignedIn }).data;
}

/** @throws CliError in words for a person, who was asked for passwords and knows nothing of fields */
async function changePassword(target: Target, oldPassword: string, newPassword: string): Promise<void> {
  const body = { oldPassword, newPassword };
  await callApi(target, { method: 'put', path: '/api/v1/users/me/password', body }).catch((error: unknown) => {
    const faults = error instanceof CliError ? faultsIn(error) : [];
    if (!(error instanceof CliError) || faults.length === 0) throw error;
    throw new CliError(faults.map(({ detail }) => detail).join(' '), error.exitCode, error.problem);
  });
}

function store({ server, username, workspace }: Account, signedIn: SignedIn): SignedIn {
  writeSession({ server, username, token: signedIn.token, ...(workspace !== undefined && { workspace }) });
  return signedIn;
}

function signedInAs(account: Account, signedIn: SignedIn): Answer {
  const { expiresAt, passwordChangeRequired, secondFactorRequired } = store(account, signedIn);
  const { server, username } = account;
  return {
    value: { server, username, expiresAt, passwordChangeRequired },
    text: `Signed in to ${server} as ${username} until ${expiresAt}. Session: ${sessionFile()}`,
    hints: [nextAfter({ passwordChangeRequired, secondFactorRequired })],
  };
}

function nextAfter(signedIn: {
  readonly passwordChangeRequired: boolean;
  readonly secondFactorRequired: true | undefined;
}): string {
  if (signedIn.passwordChangeRequired) return 'The password must be changed: mesh passwd';
  if (signedIn.secondFactorRequired) return 'A second factor has to be enrolled: mesh otp enroll';
  return 'Next: mesh mcp config';
}
