import { createHmac, createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Api } from '../http/harness.ts';
import { type CallAs, type Kit, person } from './kit.ts';

/** Devices as they come to a control plane. */

export interface DeviceKey {
  readonly privateKey: KeyObject;
  /** X25519, base64. */
  readonly publicKey: string;
}

const SPKI_HEADER = Buffer.from('302a300506032b656e032100', 'hex');

export function freshKey(): DeviceKey {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(SPKI_HEADER.length);
  return { privateKey, publicKey: raw.toString('base64') };
}

/** HMAC-SHA256(X25519(node, controlKey), token || publicKey), base64. */
export function proofOf({ privateKey, publicKey }: DeviceKey, token: string, controlKey: Uint8Array): string {
  const control = createPublicKey({ key: Buffer.concat([SPKI_HEADER, controlKey]), type: 'spki', format: 'der' });
  const shared = diffieHellman({ privateKey, publicKey: control });
  return createHmac('sha256', shared).update(token).update(publicKey).digest('base64');
}

/** HMAC-SHA256(X25519(old private key, controlKey), id || new publicKey), base64. */
export function oldKeyProofOf(old: DeviceKey, id: string, publicKey: string, controlKey: Uint8Array): string {
  return proofOf({ privateKey: old.privateKey, publicKey }, id, controlKey);
}

/** A control plane in this process, or one that is called over HTTP. */
type Plane = Pick<Kit, 'call'> | { readonly api: Api };

/** Registers a device with the token that it was given, and a key of its own unless one is among `fields`. @throws when refused */
// biome-ignore lint/suspicious/noExplicitAny: each test knows what a device of its token is told.
export async function enrol(plane: Plane, token: string, name: string, fields: object = {}): Promise<any> {
  const device = { name, publicKey: freshKey().publicKey, ...fields };
  if ('call' in plane) return plane.call('register_device', device, { bearer: token });
  const { status, body, text } = await plane.api('POST', '/api/v1/devices/register', { token, body: device });
  if (status !== 201) throw new Error(`${name} was refused: ${text}`);
  return body;
}

export async function joinToken(kit: Kit, workspace: string, fields: Record<string, unknown> = {}): Promise<string> {
  const as = person('admin', workspace);
  const { token } = await kit.call(
    'generate_join_token',
    { name: 'test', usageLimit: 100, ...fields },
    { as, workspace },
  );
  return token;
}

export interface JoinedDevice {
  readonly id: string;
  readonly name: string;
  readonly phase: string;
  readonly address: string | null;
  readonly deviceToken: string;
  /** How the device calls. */
  readonly self: CallAs;
  readonly key: DeviceKey;
}

export async function join(
  kit: Kit,
  workspace: string,
  name: string,
  { token, key = freshKey(), ...fields }: { token?: string; key?: DeviceKey } & Record<string, unknown> = {},
): Promise<JoinedDevice> {
  const bearer = token ?? (await joinToken(kit, workspace));
  const answer = await enrol(kit, bearer, name, { publicKey: key.publicKey, ...fields });
  return { ...answer, key, self: { bearer: answer.deviceToken } };
}
