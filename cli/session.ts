import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { isLoopback } from '../core/base/loopback.ts';
import { type Infer, ifIs, json, object, text } from '../core/base/shape.ts';
import { notice } from './answer.ts';
import { CliError, EXIT } from './exit.ts';
import { nodeServer } from './node-directory.ts';
import { setHintTarget } from './own-command.ts';
import { systemFailure } from './system-failure.ts';
import { variable } from './variable.ts';

/** The stored session of the last login. The server is retained after a logout. */
const sessionShape = object({ server: text(2_048) }, { token: text(4_096), username: text(256), workspace: text(256) });
export type Session = Infer<typeof sessionShape>;

export const DEFAULT_SERVER = 'http://127.0.0.1:18090';

/** Where `mesh login` keeps its session: 0600, below the user's own directory. */
export function sessionFile(): string {
  return path.join(variable('MESH_CONFIG_DIR') ?? path.join(homedir(), '.mesh'), 'session.json');
}

export function readSession(): Session | undefined {
  try {
    return ifIs(json(sessionShape), readFileSync(sessionFile(), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Returns the session of the last login if it was to this server: its token, account and workspace are useless elsewhere. */
export function sessionAt(server: string): Session | undefined {
  const session = readSession();
  return session && URL.parse(session.server)?.origin === URL.parse(server)?.origin ? session : undefined;
}

export function writeSession(session: Session): string {
  const name = sessionFile();
  writePrivate(name, `${JSON.stringify(session, null, 2)}\n`);
  return name;
}

/** Stores the workspace of the commands that follow, where the session that calls names none. */
export function rememberWorkspace({ server, token }: Target, workspace: string): void {
  const session = sessionAt(server);
  if (session && session.token === token && session.workspace === undefined) writeSession({ ...session, workspace });
}

/** Forgets the token alone: the commands that follow still know the server. */
export function forgetSession(): void {
  const session = readSession();
  if (!session) return;
  const { token: _, ...rest } = session;
  writeSession(rest);
}

/** Puts a file that only its owner can read in the place of the one before, in one step. */
export function writePrivate(name: string, text: string): void {
  mkdirSync(path.dirname(name), { recursive: true, mode: 0o700 });
  const draft = `${name}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    renameSync(draft, name);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new CliError(`Cannot write ${name}: ${(error as Error).message}`, EXIT.input);
  }
}

/** A token given as text, as `@file`, or in MESH_TOKEN. */
export function readToken(given: string | undefined): string | undefined {
  const text = given ?? variable('MESH_TOKEN');
  if (!text?.startsWith('@')) return text;
  try {
    return readFileSync(text.slice(1), 'utf8').trim();
  } catch (error) {
    throw new CliError(`Cannot read the token file: ${systemFailure(error) ?? (error as Error).message}`, EXIT.input);
  }
}

export interface Target {
  readonly server: string;
  readonly token: string | undefined;
  readonly workspace: string | undefined;
}

export interface TargetOptions {
  readonly server?: string;
  readonly token?: string;
  readonly workspace?: string;
}

let warnedOf: string | undefined;

/** Which control plane to call and as whom: options, then environment, then the stored session. */
export function targetOf(options: TargetOptions): Target {
  setHintTarget(options);
  const server = serverOf(options.server) ?? DEFAULT_SERVER;
  const session = sessionAt(server);
  const token = readToken(options.token) ?? session?.token;
  if (token === undefined) parseServer(server);
  else warnPlainHttp(server);
  const workspace = options.workspace ?? variable('MESH_WORKSPACE') ?? session?.workspace;
  return { server, token, workspace };
}

/** Tells whether this runs in a sandbox, whose door to the control plane adds the token of its agent. */
export function isBehindDoor(): boolean {
  return variable('MESH_SANDBOX') !== undefined;
}

/** The server that is named, or that the last login was to, or that of the node of this machine. */
export function serverOf(given: string | undefined): string | undefined {
  return given ?? variable('MESH_SERVER') ?? readSession()?.server ?? nodeServer();
}

/** Before a token or a password is sent there; once for each command. */
export function warnPlainHttp(server: string): void {
  const { protocol, hostname } = parseServer(server);
  if (warnedOf === server) return;
  warnedOf = server;
  if (protocol === 'http:' && !isLoopback(hostname)) {
    notice(`warning: ${server} is not encrypted: passwords and tokens travel in clear. Use https.`);
  }
}

export function parseServer(server: string): URL {
  const url = URL.parse(server);
  if (url && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw new CliError(`"${server}" is no server address: give http(s)://host:port.`, EXIT.input);
}
