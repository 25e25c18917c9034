import { rmSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '../../core/base/errors.ts';
import { formatInstant } from '../../core/base/time.ts';
import { normalizeName } from '../../core/model/resources.ts';
import { addressIn, controlKeyFingerprint, parseToken, withoutAddress } from '../../core/model/token.ts';
import { generateKeyPair, type KeyPair, keyPairOf } from '../../net/seal/x25519.ts';
import { GraphFile } from '../control/graph-file.ts';
import { NO_HOST_RULES } from '../firewall/host/host-rules.ts';
import { readRegular } from '../if-readable.ts';
import { withRouteSettings } from '../routes/route-settings.ts';
import type { Invitation } from './join-link.ts';
import { provenKey } from './key-proof.ts';
import { type NodeConfig, nodeConfigFile, readNodeConfig, writeNodeConfig } from './node-config.ts';
import { askPatiently, PlaneApi, PlaneRefusal, type Registered } from './plane-api.ts';
import { replacePrivateFile } from './private-file.ts';

export interface EnrolOptions extends Invitation {
  /** Left out: nothing is written, and an interrupted one spends another use of the token when it is repeated. */
  readonly directory?: string;
  /** Given by the user, or the host name; a sub-agent without one gets its own. */
  readonly name?: string;
  /** Takes the name that the control plane proposes where this one is taken. */
  readonly takesSuggestion?: boolean;
  readonly hostname: string;
  readonly platform: 'linux' | 'macos' | 'container' | 'agent';
  readonly version: string;
  /** Asked for; the token has to grant them. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Deleted by the control plane once it has been offline for a while. */
  readonly ephemeral?: boolean;
  /** OIDC token of this workload for the control plane at `server`, where the join token asks for one. */
  readonly identity?: string;
  /** Forgets the node that the directory holds. */
  readonly force: boolean;
  /** CIDRs beyond the private ones that this node routes; left out: as before. */
  readonly acceptRoutes?: readonly string[];
  /** How often a control plane is asked that does not answer in time; once unless given. */
  readonly tries?: number;
  /** Ends the requests to the control plane. */
  readonly signal?: AbortSignal;
}

export interface Enrolled {
  readonly config: NodeConfig;
  readonly phase: 'pending' | 'ready';
  readonly address: string | null;
  /** The host name, where another device has it and this one got the next free name. */
  readonly takenName?: string;
  /** Block of its network; an earlier control plane does not say it. */
  readonly block?: string;
}

/**
 * Makes the key of this node, registers it, and writes its configuration. The key is on disk before the control plane
 * hears of it, so one that is interrupted is repeated with the same key and spends one use of the token.
 *
 * @throws MeshError, PlaneRefusal or PlaneAway; nothing was spent unless the control plane answered.
 */
export async function enrol(options: EnrolOptions): Promise<Enrolled> {
  const { directory, server, tries = 1 } = options;
  requireJoinToken(options.token);
  const token = withoutAddress(options.token);
  const held = options.force || directory === undefined ? undefined : readNodeConfig(directory);
  if (held && directory !== undefined && originOf(held.server) !== originOf(server)) {
    throw new MeshError(
      'conflict',
      `${nodeConfigFile(directory)} belongs to ${held.server}. Give --force to forget that node, or another --config-dir.`,
    );
  }
  const api = new PlaneApi(server, token, options.signal);
  const { controlKey } = await askPatiently(() => api.discovery(), tries);
  checkFingerprint(token, controlKey, server);
  const pair = held ? keyPairOf(Buffer.from(held.privateKey, 'base64')) : draftKey(directory, options.force);
  const proven = provenKey(pair, token, controlKey);
  // The same key again spends no second use of the token.
  const { answer, takenName } = await askPatiently(() => registered(api, options, held, proven), tries);
  const config: NodeConfig = {
    server,
    id: answer.id,
    name: answer.name,
    workspaceId: answer.workspaceId,
    controlKey: answer.controlKey,
    deviceToken: answer.deviceToken,
    privateKey: Buffer.from(pair.privateKey).toString('base64'),
    signalingUrl: answer.signalingUrl,
    ...keyAge(held),
    ...(await routeSettings(directory, held, options.acceptRoutes)),
    ...(answer.busJwt !== undefined && { busJwt: answer.busJwt }),
    ...(answer.agentToken !== undefined && { agentToken: answer.agentToken }),
    ...(answer.expiresAt !== undefined && { expiresAt: answer.expiresAt }),
  };
  if (config.controlKey !== controlKey) {
    throw new MeshError('unavailable', `${server} named two different control keys: try again.`);
  }
  if (directory !== undefined) {
    writeNodeConfig(directory, config);
    rmSync(draftFile(directory), { force: true });
  }
  return {
    ...{ config, phase: answer.phase, address: answer.address },
    ...(takenName !== undefined && { takenName }),
    ...(answer.cidr !== undefined && { block: answer.cidr }),
  };
}

/** A key that it had before is as old as it was. */
function keyAge(held: NodeConfig | undefined): Pick<NodeConfig, 'keySince'> {
  if (!held) return { keySince: formatInstant(Date.now()) };
  return held.keySince === undefined ? {} : { keySince: held.keySince };
}

type RouteSettings = Pick<NodeConfig, 'acceptRoutes' | 'carriedBlock' | 'probationBlock' | 'withdrawnBlock'>;

/** A node that registers again in its directory routes what it routed. */
async function routeSettings(
  directory: string | undefined,
  held: NodeConfig | undefined,
  given?: readonly string[],
): Promise<RouteSettings> {
  if (!held) return { acceptRoutes: given ?? [] };
  const {
    acceptRoutes = [],
    carriedBlock,
    probationBlock,
    withdrawnBlock,
  } = await withRouteSettings(held, new GraphFile(directory, held.id).read(), NO_HOST_RULES.translations);
  return {
    acceptRoutes: given ?? acceptRoutes,
    ...(carriedBlock !== undefined && { carriedBlock }),
    ...(probationBlock !== undefined && { probationBlock }),
    ...(withdrawnBlock !== undefined && { withdrawnBlock }),
  };
}

/** @throws MeshError that never repeats what was given */
export function requireJoinToken(text: string): void {
  const kind = parseToken(withoutAddress(text))?.kind;
  if ((kind === 'join' || kind === 'dlg') && addressIn(text) !== undefined) return;
  throw new MeshError(
    'invalid_input',
    /^mesh-(join|dlg)-/.test(text)
      ? 'This token is incomplete or has characters too many: copy it whole, as it was made.'
      : 'This is no join token: one begins with mesh-join- or, for sub-agents, mesh-dlg-.',
  );
}

/** How often a name that the control plane proposed may be taken by another in the meantime. */
const NAME_TRIES = 5;

async function registered(
  api: PlaneApi,
  options: EnrolOptions,
  held: NodeConfig | undefined,
  proven: ReturnType<typeof provenKey>,
): Promise<{ readonly answer: Registered; readonly takenName?: string }> {
  const { platform, hostname, version, labels, ephemeral, identity } = options;
  const asked = {
    ...(labels && { labels }),
    ...(ephemeral && { ephemeral: true as const }),
    ...(identity && { identity }),
  };
  const wanted = held?.name ?? (options.name === undefined ? undefined : normalizeName(options.name));
  let name = wanted;
  for (let left = NAME_TRIES; ; ) {
    left -= 1;
    try {
      const request = { ...(name !== undefined && { name }), platform, hostname, version, ...asked, ...proven };
      const answer = await api.register(request);
      return { answer, ...(wanted !== undefined && name !== wanted && { takenName: wanted }) };
    } catch (error) {
      const suggested = error instanceof PlaneRefusal ? error.suggestedName : undefined;
      if (!options.takesSuggestion || suggested === undefined || left === 0) throw explained(error, held);
      name = suggested;
    }
  }
}

/** A token that was stolen or sent to the wrong place is of no use there: it names the key it is for. */
function checkFingerprint(token: string, controlKey: string, server: string): void {
  const { fingerprint } = parseToken(token) ?? {};
  if (fingerprint === undefined || fingerprint === controlKeyFingerprint(Buffer.from(controlKey, 'base64'))) return;
  throw new MeshError(
    'forbidden',
    `${server} is not the control plane that issued this token. Nothing was sent. Check --server.`,
  );
}

function draftFile(directory: string): string {
  return path.join(directory, 'node.key');
}

function draftKey(directory: string | undefined, fresh: boolean): KeyPair {
  if (directory === undefined) return generateKeyPair();
  if (!fresh) {
    try {
      return keyPairOf(Buffer.from(readRegular(draftFile(directory)), 'base64'));
    } catch {
      // None was left by an attempt before.
    }
  }
  const pair = generateKeyPair();
  replacePrivateFile(draftFile(directory), Buffer.from(pair.privateKey).toString('base64'));
  return pair;
}

function explained(error: unknown, held: NodeConfig | undefined): unknown {
  if (!(error instanceof PlaneRefusal) || error.code !== 'conflict') return error;
  const remedy = held
    ? 'This directory holds a node already: start it, or join anew with --force to replace it.'
    : error.suggestedName === undefined
      ? ''
      : 'Without --name it takes the next free one.';
  return new PlaneRefusal(error.status, error.code, `${error.message} ${remedy}`.trim(), error.suggestedName);
}

function originOf(server: string): string | undefined {
  return URL.parse(server)?.origin;
}
