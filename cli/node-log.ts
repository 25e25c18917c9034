import { LogFile, type LogRecord, type Refused } from '../client/control/log-file.ts';
import { type NodeConfig, readNodeConfig } from '../client/enrol/node-config.ts';
import { readCheckpoint } from '../core/audit/checkpoint.ts';
import type { StoredLogState } from '../core/audit/findings.ts';
import { logOrigin } from '../core/audit/log-keys.ts';
import { MeshError } from '../core/base/errors.ts';
import { CliError, EXIT } from './exit.ts';
import { noConfiguration } from './no-configuration.ts';
import { nodeDirectory } from './node-directory.ts';
import { readToken, serverOf, sessionAt, type Target } from './session.ts';

/** The node of this machine as a verifier: where its control plane is, and what it kept of the log. */
export interface NodeOfLog {
  readonly target: Target;
  readonly directory: string;
  /** The origin of its log, by the control plane's key that it pinned when it joined. */
  readonly origin: string;
  readonly kept: NodeLogState | undefined;
  readonly refused: Refused | undefined;
}

interface Options {
  readonly configDir?: string;
  readonly server?: string;
  readonly token?: string;
  readonly workspace?: string;
  readonly installation?: boolean;
}

/**
 * The node that verifies: of the directory that is named, or of this machine where nobody is signed in.
 *
 * @throws CliError where the directory that is named has none, or what it kept is damaged
 */
export function nodeOfLog(options: Options): NodeOfLog | undefined {
  const { configDir } = options;
  if (configDir === undefined && (isNamed(options) || isSignedIn())) return undefined;
  const directory = nodeDirectory(configDir);
  const config = configIn(directory);
  if (!config && configDir === undefined) return undefined;
  if (!config) throw noConfiguration(directory);
  const { server, deviceToken: token, controlKey, workspaceId } = config;
  const origin = logOrigin(Buffer.from(controlKey, 'base64'), workspaceId);
  const held = logRecordIn(directory);
  const own = held?.origin === origin ? held : undefined;
  const kept = own && logStateOf(own);
  return { target: { server, token, workspace: undefined }, directory, origin, kept, refused: own?.refused };
}

type NodeLogState = StoredLogState & { readonly origin: string; readonly key: string };

/**
 * Returns the log state that the node of this machine stored for its workspace, whoever is signed in.
 *
 * @throws CliError where it is damaged
 */
export function nodeLogState(configDir?: string): NodeLogState | undefined {
  const held = logRecordIn(nodeDirectory(configDir));
  return held && logStateOf(held);
}

function logStateOf({ kept }: LogRecord): NodeLogState | undefined {
  const said = kept && readCheckpoint(kept.note);
  return said && { ...said, at: kept.at, by: 'This node', key: Buffer.from(kept.key).toString('base64') };
}

function isNamed({ server, token, workspace, installation }: Options): boolean {
  return [server, workspace, readToken(token)].some((each) => each !== undefined) || installation === true;
}

function isSignedIn(): boolean {
  const server = serverOf(undefined);
  return server !== undefined && sessionAt(server)?.token !== undefined;
}

function configIn(directory: string): NodeConfig | undefined {
  try {
    return readNodeConfig(directory);
  } catch (error) {
    if (error instanceof MeshError) throw new CliError(error.message, EXIT.input);
    throw error;
  }
}

function logRecordIn(directory: string) {
  try {
    return new LogFile(directory).read();
  } catch (error) {
    throw new CliError((error as Error).message, EXIT.input);
  }
}
