import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { joinTokenFor, type Place, register } from '../kits/http/joining.ts';
import { type DeviceKey, freshKey, proofOf } from '../kits/plane/devices.ts';

describe.each(['optional', 'required'] as const)('MESH_REGISTRATION_PROOF=%s', (setting) => {
  let harness: Harness;
  let places: Place[];
  let controlKey: Buffer;
  beforeAll(async () => {
    harness = await startHarness(setting === 'optional' ? {} : { env: { MESH_REGISTRATION_PROOF: setting } });
    places = [await harness.workspace('here'), await harness.workspace('there')];
    controlKey = Buffer.from((await harness.api('GET', '/api/v1/discovery')).body.controlKey, 'base64');
  });
  afterAll(() => harness[Symbol.asyncDispose]());

  const tokenIn = (n: number) => joinTokenFor(harness, places[n] as Place);
  const proven = (key: DeviceKey, token: string) => ({
    publicKey: key.publicKey,
    proof: proofOf(key, token, controlKey),
  });

  test('a device that proves its key registers, and again with the same token and key is the same peer', async () => {
    const token = await tokenIn(0);
    const key = freshKey();
    const first = await register(harness, token, 'proven', proven(key, token));
    const again = await register(harness, token, 'proven', proven(key, token));
    expect([first.status, again.status, again.body.id]).toEqual([201, 200, first.body.id]);
    expect(again.body.deviceToken).toMatch(/^mesh-dev-/);
    const without = await register(harness, token, 'proven', { publicKey: key.publicKey });
    expect(without.status).toBe(setting === 'optional' ? 409 : 400);
  });

  test('one that does not is taken for a key that nobody holds, unless a proof is required', async () => {
    const token = await tokenIn(0);
    const { publicKey } = freshKey();
    const first = await register(harness, token, 'plain', { publicKey });
    if (setting === 'required') {
      expect([first.status, first.body.errors[0].pointer]).toEqual([400, '/proof']);
      return;
    }
    const again = await register(harness, token, 'plain', { publicKey });
    expect([first.status, again.status, again.body.id]).toEqual([201, 200, first.body.id]);
    await harness.api('POST', '/api/v1/devices/self/heartbeat', { token: again.body.deviceToken, body: {} });
    const third = await register(harness, token, 'plain', { publicKey });
    expect([third.status, third.body.id, third.body.deviceToken]).toEqual([200, first.body.id, undefined]);
    const elsewhere = await register(harness, await tokenIn(1), 'plain', { publicKey });
    expect([elsewhere.status, elsewhere.body.code]).toEqual([409, 'conflict']);
  });

  test('a wrong proof is refused', async () => {
    const token = await tokenIn(0);
    const { proof } = proven(freshKey(), token);
    const { status, body } = await register(harness, token, 'wrong', { proof });
    expect([status, body.errors[0].pointer]).toEqual([400, '/proof']);
  });
});
