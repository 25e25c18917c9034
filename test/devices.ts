import { createHmac, createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { type CallAs, type Kit, person } from './kit.ts';

/** Devices as they come to a control plane, for tests over the kit. */

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
  const answer = await kit.call('register_device', { name, publicKey: key.publicKey, ...fields }, { bearer });
  return { ...answer, key, self: { bearer: answer.deviceToken } };
}
